// Whatever the bytes: reading them as a text table gives a recording or an Error. What was read can
// be written and reads back as the same numbers; dropping bad rows never fails on a bad row.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "proprio/core/error.h"
#include "proprio/recording/csv.h"

namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void roundTrip(const proprio::Recording& recording) {
  const proprio::Recording again = proprio::readCsvRecordingText(csvText(recording), "again.csv");
  if (again.samples() != recording.samples()) std::abort();
  if (again.values.cols() != recording.values.cols()) std::abort();
  for (Eigen::Index i = 0; i < recording.values.size(); ++i) {
    if (!same(again.values.data()[i], recording.values.data()[i])) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  proprio::CsvOptions options;
  options.drop_bad_rows = (data[0] & 1) != 0;
  if ((data[0] & 2) != 0) options.names = proprio::CsvNames::kNone;
  const int columns = data[0] >> 5;
  proprio::Recording recording;
  try {
    recording = columns > 0 ? proprio::readValueListText(text, "fuzz.txt", columns, options)
                            : proprio::readCsvRecordingText(text, "fuzz.csv", options);
  } catch (const proprio::Error&) {
    return 0;
  }
  // names made of anything need not survive, so that plain ones are written
  for (size_t c = 0; c < recording.channels.size(); ++c) {
    recording.channels[c].name = "c" + std::to_string(c);
    recording.channels[c].unit.clear();
  }
  if (!recording.channels.empty() && recording.samples() > 0) roundTrip(recording);
  return 0;
}
