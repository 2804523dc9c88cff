#include <memory>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/report/chart.h"
#include "proprio/report/comparison_report.h"

namespace proprio::apps {
namespace {

struct CompareOptions {
  std::vector<std::string> results;
  std::string json, plot;
};

int run(const CompareOptions& options) {
  if (!options.plot.empty()) requirePicturePath(options.plot);
  std::vector<EstimateSummary> results;
  for (const std::string& path : options.results) results.push_back(readEstimateJson(path));
  const Comparison comparison = compareEstimates(results);
  if (!options.json.empty()) writeFileAtomically(options.json, comparisonJson(comparison));
  if (!options.plot.empty()) writePicture(comparisonFigures(comparison), options.plot);
  print(comparisonText(comparison, colourWanted(), terminalWidth()));
  return 0;
}

}  // namespace

Run addCompare(CLI::App& verb) {
  const auto options = std::make_shared<CompareOptions>();
  verb.add_option("RESULT", options->results,
                  "folders that proprio identify wrote, or their estimate.json; at least two")
      ->required()
      ->expected(2, 1000);
  verb.add_option("--json", options->json, "also write the comparison to this file, for programs")
      ->type_name("FILE");
  verb.add_option("--plot", options->plot,
                  "errors, masses and base parameters as a picture (.html, .svg, .png)")
      ->type_name("FILE");
  return [options] { return run(*options); };
}

}  // namespace proprio::apps
