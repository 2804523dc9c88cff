#include <Eigen/Eigenvalues>
#include <nlohmann/json.hpp>

#include "proprio/model/link_solid.h"
#include "proprio/model/lint.h"

namespace proprio {
namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const Finding& finding) {
  Json out = {{"severity", toString(finding.severity)},
              {"rule", finding.rule},
              {"subject", finding.subject},
              {"message", finding.message},
              {"advice", finding.advice},
              {"value", finding.value},
              {"margin", finding.margin},
              {"unit", finding.unit},
              {"file", finding.location.file}};
  out["line"] = finding.location.line > 0 ? Json(finding.location.line) : Json();
  return out;
}

Json linkJson(const Model& model, int link) {
  const Link& about = model.links[static_cast<size_t>(link)];
  Json out = {{"name", about.name}, {"mass", about.inertia.mass}};
  if (about.inertia.mass > 0.0) {
    const Vector3d J = Eigen::SelfAdjointEigenSolver<Matrix3d>(about.inertia.inertiaAtCom(),
                                                               Eigen::EigenvaluesOnly)
                           .eigenvalues();
    out["smallest_principal_inertia"] = J[0];
    out["smallest_second_moment"] = 0.5 * (J[0] + J[1] - J[2]);
  }
  const LinkSolid shapes = linkSolid(model, link);
  if (shapes.usable()) {
    out["volume"] = shapes.solid.volume();
    out["density"] = about.inertia.mass / shapes.solid.volume();
  }
  return out;
}

}  // namespace

std::string findingsJson(const Model& model, const std::vector<Finding>& findings,
                         const std::string& repair_json) {
  Json list = Json::array(), links = Json::array();
  for (const Finding& finding : findings) list.push_back(jsonOf(finding));
  for (int link = 0; link < static_cast<int>(model.links.size()); ++link)
    links.push_back(linkJson(model, link));
  const int errors = countOf(findings, Severity::kError);
  Json out = {{"robot", model.name},
              {"possible", errors == 0},
              {"errors", errors},
              {"warnings", countOf(findings, Severity::kWarning)},
              {"notes", countOf(findings, Severity::kNote)},
              {"findings", list},
              {"links", links}};
  if (!repair_json.empty()) out["repair"] = Json::parse(repair_json);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace proprio
