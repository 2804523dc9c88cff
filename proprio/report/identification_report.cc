#include "proprio/report/identification_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/version.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/identification_sections_internal.h"
#include "proprio/report/identification_tables_internal.h"
#include "proprio/report/link_scene_internal.h"
#include "proprio/report/report_page_internal.h"

namespace proprio {
namespace {

std::string verdictBox(const IdentificationResult& result) {
  const bool validated = !result.best().validation.empty();
  const char* word = !result.passed ? "Failed" : validated ? "Passed" : "Not validated";
  const char* look = !result.passed ? "bad" : passedInPart(result) ? "partly" : "good";
  const auto first = result.reasons.begin() + static_cast<std::ptrdiff_t>(result.causes);
  const std::vector<std::string> causes(result.reasons.begin(), first);
  std::vector<std::string> remarks(first, result.reasons.end());
  if (!result.advice.empty()) remarks.push_back(result.advice);
  return fmt::format(
      "<div class=\"verdict {}\"><strong>{}</strong>\n<p>{}</p>\n{}<div class=\"remarks\">{}</div>"
      "</div>\n",
      look, word, xmlEscaped(verdictBeside(result)), bulletList(causes), bulletList(remarks));
}

std::string card(const std::string& number, const std::string& meaning) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", number, xmlEscaped(meaning));
}

std::string percentNumber(double percent) { return htmlNumber(percent, 3) + " %"; }

std::string keyNumbers(const IdentificationResult& result) {
  const MethodResult& best = result.best();
  const bool validated = !best.validation.empty();
  const Evaluation judged = pooled(validated ? best.validation : best.training);
  const Evaluation given =
      pooled(validated ? result.validation_baselines : result.training_baselines, "as given");
  const std::vector<std::string> names = coordinateNames(*result.problem.tree);
  size_t worst = 0;
  for (size_t j = 1; j < judged.joints.size(); ++j) {
    if (judged.joints[j].percent > judged.joints[worst].percent ||
        std::isnan(judged.joints[worst].percent))
      worst = j;
  }
  Eigen::Index samples = 0;
  for (const MotionData& data : result.problem.data) samples += data.samples();
  double seconds = 0.0;
  for (const Stage& stage : result.stages) seconds += stage.seconds;

  const std::string on = validated ? "on recordings held out" : "on the training recordings";
  std::string out = "<div class=\"numbers\">\n";
  out += card(percentNumber(judged.overall.percent), "torque error " + on);
  out += card(percentNumber(given.overall.percent), "the same with the robot as given");
  if (!judged.joints.empty())
    out += card(percentNumber(judged.joints[worst].percent), "worst joint: " + names[worst]);
  out += card(fmt::format("{} of {}", knownWell(best.estimate), best.estimate.beta.size()),
              fmt::format("base parameters known to {:.0f} %", kKnownWell));
  out += card(htmlNumber(best.estimate.condition, 3), "condition number");
  out += card(best.consistent ? "yes" : "no", "physically possible, every link");
  out += card(fmt::to_string(samples), "samples for training");
  if (seconds > 0.0) out += card(htmlNumber(seconds, 2) + " s", "for everything");
  return out + "</div>\n";
}

struct PageSection {
  const char* id;
  const char* name;
  std::string html;
};

std::string navigation(const std::vector<PageSection>& sections) {
  std::string out = "<nav>\n";
  for (const PageSection& part : sections) {
    if (!part.html.empty()) out += fmt::format("<a href=\"#{}\">{}</a>\n", part.id, part.name);
  }
  return out + "</nav>\n";
}

}  // namespace

std::string identificationReport(const IdentificationResult& result) {
  const std::string& robot = result.problem.tree->model().name;
  const std::vector<PageSection> sections = {
      {"torques", "Torques", torqueSections(result)},
      {"links", "Links", linkSection(result)},
      {"parameters", "Parameters", parameterSection(result)},
      {"joints", "Joints", jointSection(result)},
      {"methods", "Methods", methodSection(result)},
      {"excitation", "Excitation", excitationSection(result)},
      {"statistics", "Statistics", statisticsSection(result)},
      {"recordings", "Recordings", recordingSection(result)},
      {"sources", "Sources", sourceSection(result)}};
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"proprio {}\">\n"
      "<title>{} identified with {}</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n",
      libraryVersion(), xmlEscaped(robot), xmlEscaped(result.best().estimate.method), pageStyle(),
      sceneStyle(), svgStyle());
  page += fmt::format("<h1>{} <span class=\"muted\">identified with {}</span></h1>\n",
                      xmlEscaped(robot), xmlEscaped(result.best().estimate.method));
  page += verdictBox(result) + keyNumbers(result) + navigation(sections);
  for (const PageSection& part : sections) page += part.html;
  page += "<script>\n";
  page += chartScript();
  page += sceneScript();
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace proprio
