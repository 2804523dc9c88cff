#include <fcntl.h>
#include <fmt/format.h>
#include <lz4frame.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "proprio/core/error.h"
#include "proprio/recording/compression_internal.h"

namespace proprio {
namespace {

constexpr size_t kStep = size_t{1} << 18;  // output grows by this, never by a claim of the file

struct Outcome {
  bool finished = false;  ///< the stream's own end was reached
  bool damaged = false;
};

// more room in `out`, at most one byte beyond `limit`: that byte tells that the stream is too long
size_t grow(std::string& out, size_t used, uint64_t limit) {
  const size_t step = std::max(kStep, used);
  out.resize(static_cast<size_t>(std::min<uint64_t>(limit + 1, used + step)));
  return out.size() - used;
}

Outcome inflateInto(std::string_view bytes, bool raw, uint64_t limit, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, raw ? -15 : 15) != Z_OK) return {false, true};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  size_t used = 0, eaten = 0;
  int code = Z_OK;
  while (code == Z_OK && used <= limit) {
    const size_t room = grow(out, used, limit);
    const auto in = static_cast<uInt>(std::min(bytes.size() - eaten, size_t{1} << 30));
    const auto space = static_cast<uInt>(std::min(room, size_t{1} << 30));
    // zlib's type is not const, but it only reads
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + eaten));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = space;
    code = inflate(&stream, Z_NO_FLUSH);
    eaten += in - stream.avail_in;
    used += space - stream.avail_out;
    if (code == Z_BUF_ERROR) break;
  }
  out.resize(used);
  return {code == Z_STREAM_END, code != Z_STREAM_END && code != Z_OK && code != Z_BUF_ERROR};
}

Outcome lz4Into(std::string_view bytes, uint64_t limit, std::string& out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return {false, true};
  const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> owner(
      context, LZ4F_freeDecompressionContext);
  size_t used = 0, eaten = 0, hint = 1;
  while (hint != 0 && used <= limit) {
    size_t room = grow(out, used, limit);
    size_t in = bytes.size() - eaten;
    hint = LZ4F_decompress(context, out.data() + used, &room, bytes.data() + eaten, &in, nullptr);
    if (LZ4F_isError(hint)) return {false, true};
    eaten += in;
    used += room;
    if (in == 0 && room == 0) break;
  }
  out.resize(used);
  return {hint == 0, false};
}

Outcome zstdInto(std::string_view bytes, uint64_t limit, std::string& out) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t used = 0, hint = 1;
  while (used <= limit) {
    const size_t room = grow(out, used, limit);
    ZSTD_outBuffer to{out.data() + used, room, 0};
    const size_t before = in.pos;
    hint = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(hint)) return {false, true};
    used += to.pos;
    // several frames may follow each other
    if (in.pos == in.size && (hint == 0 || to.pos < to.size)) break;
    if (in.pos == before && to.pos == 0) break;
  }
  out.resize(used);
  return {hint == 0, false};
}

Outcome decompressInto(Compression compression, std::string_view bytes, uint64_t limit,
                       std::string& out) {
  switch (compression) {
    case Compression::kDeflate:
      return inflateInto(bytes, true, limit, out);
    case Compression::kZlib:
      return inflateInto(bytes, false, limit, out);
    case Compression::kLz4Frame:
      return lz4Into(bytes, limit, out);
    case Compression::kZstd:
      return zstdInto(bytes, limit, out);
  }
  return {false, true};
}

}  // namespace

uint32_t crc32Of(std::string_view bytes, uint32_t before) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string decompressed(Compression compression, std::string_view bytes, uint64_t size,
                         const std::string& where) {
  std::string out;
  const Outcome outcome = decompressInto(compression, bytes, size, out);
  if (outcome.damaged || (!outcome.finished && out.size() <= size)) {
    throw Error(where + ": the compressed data are damaged or cut off");
  }
  if (out.size() != size) {
    throw Error(fmt::format("{}: the compressed data hold {} bytes than the {} that are announced",
                            where, out.size() > size ? "more" : "fewer", size));
  }
  return out;
}

std::string decompressedUnsized(Compression compression, std::string_view bytes, uint64_t largest,
                                const std::string& where) {
  std::string out;
  const Outcome outcome = decompressInto(compression, bytes, largest, out);
  if (out.size() > largest) {
    throw Error(
        fmt::format("{}: decompresses to more than {} bytes, which is too large", where, largest));
  }
  if (!outcome.finished) throw Error(where + ": the compressed data are damaged or cut off");
  return out;
}

std::string compressed(Compression compression, std::string_view bytes) {
  std::string out;
  if (compression == Compression::kZstd) {
    out.resize(ZSTD_compressBound(bytes.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  } else if (compression == Compression::kLz4Frame) {
    out.resize(LZ4F_compressFrameBound(bytes.size(), nullptr));
    out.resize(LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), nullptr));
  } else {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, compression == Compression::kDeflate ? -15 : 15, 8,
                 Z_DEFAULT_STRATEGY);
    out.resize(deflateBound(&stream, static_cast<uLong>(bytes.size())));
    size_t eaten = 0, used = 0;
    int code = Z_OK;
    while (code == Z_OK) {
      const auto in = static_cast<uInt>(std::min(bytes.size() - eaten, size_t{1} << 30));
      const auto space = static_cast<uInt>(std::min(out.size() - used, size_t{1} << 30));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + eaten));
      stream.avail_in = in;
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream.avail_out = space;
      code = deflate(&stream, eaten + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
      eaten += in - stream.avail_in;
      used += space - stream.avail_out;
    }
    deflateEnd(&stream);
    out.resize(used);
  }
  return out;
}

bool isGzip(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  unsigned char mark[3] = {};
  const bool whole = ::pread(file, mark, sizeof mark, 0) == ssize_t{sizeof mark};
  ::close(file);
  return whole && mark[0] == 0x1f && mark[1] == 0x8b && mark[2] == 8;  // 8: deflate
}

GzipFile::GzipFile(const std::string& path) : path_(path) {
  const gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) throw Error(path + ": cannot be opened for reading");
  constexpr unsigned kBuffer = 1 << 18;
  ::gzbuffer(file, kBuffer);
  file_ =
      std::shared_ptr<void>(file, [](void* handle) { ::gzclose_r(static_cast<gzFile>(handle)); });
}

size_t GzipFile::read(char* to, size_t most) {
  const auto file = static_cast<gzFile>(file_.get());
  constexpr size_t kAtOnce = size_t{1} << 30;
  const int count = ::gzread(file, to, static_cast<unsigned>(std::min(most, kAtOnce)));
  int code = Z_OK;
  ::gzerror(file, &code);
  if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END)) {
    throw Error(path_ + (code == Z_BUF_ERROR ? ": the compressed file is cut off"
                                             : ": the compressed file is damaged"));
  }
  return static_cast<size_t>(count);
}

}  // namespace proprio
