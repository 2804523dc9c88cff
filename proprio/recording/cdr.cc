#include "proprio/recording/cdr.h"

#include <fmt/format.h>

#include "proprio/recording/byte_reader_internal.h"

namespace proprio {
namespace {

class CdrReader {
 public:
  CdrReader(std::string_view bytes, const std::string& where)
      : reader_(bytes.substr(std::min<size_t>(bytes.size(), 4)), where, 4,
                bytes.size() > 1 && bytes[1] == 0) {
    if (bytes.size() < 4)
      throw Error(
          fmt::format("{}: the message has {} bytes, too few for CDR", where, bytes.size()));
    if (bytes[0] != 0 || (bytes[1] != 0 && bytes[1] != 1)) {
      throw Error(fmt::format(
          "{}: the message has encoding {:02x}{:02x}, expected 0000 or 0001 "
          "(plain CDR)",
          where, static_cast<unsigned char>(bytes[0]), static_cast<unsigned char>(bytes[1])));
    }
  }

  template <typename T>
  T read(const char* what) {
    align(sizeof(T));
    return reader_.read<T>(what);
  }
  void read(const char* what, std::string& text) {
    const auto size = read<uint32_t>(what);
    const std::string_view bytes = reader_.take(size, what);
    text.assign(bytes.substr(0, bytes.find('\0')));
  }
  void read(const char* what, std::vector<std::string>& texts) {
    // a text takes at least the four bytes of its length
    texts.resize(count(what, 4));
    for (std::string& text : texts) read(what, text);
  }
  void read(const char* what, std::vector<double>& numbers) {
    const size_t size = count(what, 0);
    if (size > 0) align(sizeof(double));
    if (size > reader_.left() / sizeof(double)) throw tooMany(size, what);
    numbers.resize(size);
    for (double& number : numbers) number = reader_.read<double>(what);
  }
  template <size_t N>
  void read(const char* what, std::array<double, N>& numbers) {
    for (double& number : numbers) number = read<double>(what);
  }
  // seconds are signed 32 bits; nanoseconds unsigned
  int64_t readTime(const char* what) {
    const int64_t seconds = read<int32_t>(what);
    return seconds * 1000000000 + read<uint32_t>(what);
  }
  void read(MessageHeader& header) {
    header.stamp_ns = readTime("the time stamp");
    read("the frame id", header.frame_id);
  }
  /// A count whose elements take at least `smallest` bytes each.
  size_t count(const char* what, size_t smallest) {
    const auto size = read<uint32_t>(what);
    if (smallest > 0 && size > reader_.left() / smallest) throw tooMany(size, what);
    return size;
  }

 private:
  void align(size_t size) {
    const size_t over = reader_.offset() % size;
    if (over != 0) reader_.take(std::min(size - over, reader_.left()), "alignment");
  }
  Error tooMany(size_t size, const char* what) const {
    return reader_.error(fmt::format("{} announces {} elements, more than the {} bytes left hold",
                                     what, size, reader_.left()));
  }

  ByteReader reader_;
};

class CdrWriter {
 public:
  template <typename T>
  void write(T value) {
    while ((bytes_.size() - 4) % sizeof(T) != 0) bytes_ += '\0';
    if constexpr (std::endian::native == std::endian::big) value = byteSwapped(value);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void write(const std::string& text) {
    write(static_cast<uint32_t>(text.size() + 1));
    bytes_ += text;
    bytes_ += '\0';
  }
  template <typename T>
  void write(const std::vector<T>& elements) {
    write(static_cast<uint32_t>(elements.size()));
    for (const T& element : elements) write(element);
  }
  template <size_t N>
  void write(const std::array<double, N>& numbers) {
    for (const double number : numbers) write(number);
  }
  void write(const MessageHeader& header) {
    // rounded down, so that nanoseconds are never negative
    const int64_t nanoseconds = ((header.stamp_ns % 1000000000) + 1000000000) % 1000000000;
    write(static_cast<int32_t>((header.stamp_ns - nanoseconds) / 1000000000));
    write(static_cast<uint32_t>(nanoseconds));
    write(header.frame_id);
  }
  std::string bytes() { return std::move(bytes_); }

 private:
  std::string bytes_{'\0', '\1', '\0', '\0'};
};

}  // namespace

void decodeCdr(std::string_view bytes, const std::string& where, JointStateMessage& out) {
  CdrReader reader(bytes, where);
  reader.read(out.header);
  reader.read("the names of joints", out.name);
  reader.read("the positions", out.position);
  reader.read("the velocities", out.velocity);
  reader.read("the efforts", out.effort);
}

void decodeCdr(std::string_view bytes, const std::string& where, ImuMessage& out) {
  CdrReader reader(bytes, where);
  reader.read(out.header);
  reader.read("the orientation", out.orientation);
  reader.read("the covariance of the orientation", out.orientation_covariance);
  reader.read("the angular velocity", out.angular_velocity);
  reader.read("the covariance of the angular velocity", out.angular_velocity_covariance);
  reader.read("the linear acceleration", out.linear_acceleration);
  reader.read("the covariance of the linear acceleration", out.linear_acceleration_covariance);
}

void decodeCdr(std::string_view bytes, const std::string& where, bool stamped, WrenchMessage& out) {
  CdrReader reader(bytes, where);
  if (stamped) reader.read(out.header);
  reader.read("the force", out.force);
  reader.read("the torque", out.torque);
}

void decodeCdr(std::string_view bytes, const std::string& where, JointTrajectoryMessage& out) {
  CdrReader reader(bytes, where);
  reader.read(out.header);
  reader.read("the names of joints", out.joint_names);
  // a point takes at least four counts and the time
  out.points.resize(reader.count("the points", 24));
  for (JointTrajectoryMessage::Point& point : out.points) {
    reader.read("the positions of a point", point.positions);
    reader.read("the velocities of a point", point.velocities);
    reader.read("the accelerations of a point", point.accelerations);
    reader.read("the efforts of a point", point.effort);
    point.time_from_start_ns = reader.readTime("the time of a point");
  }
}

std::string encodeCdr(const JointStateMessage& message) {
  CdrWriter writer;
  writer.write(message.header);
  writer.write(message.name);
  writer.write(message.position);
  writer.write(message.velocity);
  writer.write(message.effort);
  return writer.bytes();
}

std::string encodeCdr(const ImuMessage& message) {
  CdrWriter writer;
  writer.write(message.header);
  writer.write(message.orientation);
  writer.write(message.orientation_covariance);
  writer.write(message.angular_velocity);
  writer.write(message.angular_velocity_covariance);
  writer.write(message.linear_acceleration);
  writer.write(message.linear_acceleration_covariance);
  return writer.bytes();
}

std::string encodeCdr(const WrenchMessage& message) {
  CdrWriter writer;
  writer.write(message.header);
  writer.write(message.force);
  writer.write(message.torque);
  return writer.bytes();
}

}  // namespace proprio
