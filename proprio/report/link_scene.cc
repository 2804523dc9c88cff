#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "proprio/dynamics/kinematics.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/link_scene_internal.h"
#include "proprio/spatial/principal_inertia.h"

namespace proprio {
namespace {

constexpr double kSceneSize = 560.0;     // px, both ways
constexpr double kAzimuth = 0.7;         // rad, of the first view
constexpr double kElevation = 0.3;       // rad
constexpr double kSolidEllipsoid = 5.0;  // semi-axis^2 = 5 L / m
constexpr double kSceneTau = 6.283185307179586;

Eigen::VectorXd neutralWithinLimits(const Tree& tree) {
  Eigen::VectorXd q = tree.neutralPosition();
  for (size_t j = 0; j < tree.model().joints.size(); ++j) {
    const Joint& joint = tree.model().joints[j];
    const int index = tree.positionIndex(static_cast<int>(j));
    if (index < 0 || positionCount(joint.type) != 1 || joint.mimic) continue;
    if (joint.limits.lower <= joint.limits.upper)
      q[index] = std::clamp(q[index], joint.limits.lower, joint.limits.upper);
  }
  return q;
}

SceneBody sceneBody(const Eigen::VectorXd& chi, int link, const Pose& X_WL) {
  const InertialParameters parameters =
      InertialParameters::fromVector(Vector10d(chi.segment<10>(10 * link)));
  SceneBody body;
  body.mass = parameters.mass;
  if (!parameters.vector().allFinite() || parameters.vector().isZero(0.0)) return body;
  body.possible = parameters.mass > 0.0;
  if (!body.possible) return body;
  body.exists = true;
  const PrincipalInertia principal = principalInertia(parameters);
  body.possible = principal.second_moments.minCoeff() >= 0.0;
  const Vector3d half =
      (kSolidEllipsoid * principal.second_moments.cwiseMax(0.0) / parameters.mass).cwiseSqrt();
  body.com = X_WL.R * principal.com + X_WL.p;
  body.half_axes = X_WL.R * principal.rotation * half.asDiagonal();
  return body;
}

/// Rows: to the right, up, and towards the reader.
Matrix3d viewFrom(double azimuth, double elevation) {
  const double ca = std::cos(azimuth), sa = std::sin(azimuth), ce = std::cos(elevation),
               se = std::sin(elevation);
  Matrix3d view;
  view << -sa, ca, 0.0, -se * ca, -se * sa, ce, ce * ca, ce * sa, se;
  return view;
}

/// The posture whose links make the widest picture: the smaller extent of the joints, over all
/// directions in the plane of the first view, is largest.
Eigen::VectorXd spreadPosture(const Tree& tree, const std::vector<Eigen::VectorXd>& postures) {
  Eigen::VectorXd best = neutralWithinLimits(tree);
  double widest = -1.0;
  const Eigen::Matrix<double, 2, 3> view = viewFrom(kAzimuth, kElevation).topRows<2>();
  Kinematics kinematics(tree);
  for (const Eigen::VectorXd& q : postures) {
    if (q.size() != best.size() || !q.allFinite()) continue;
    computeKinematics(tree, q, kinematics);
    Eigen::Vector2d mean = Eigen::Vector2d::Zero();
    for (const Pose& X_WL : kinematics.X_WL) mean += view * X_WL.p;
    mean /= static_cast<double>(kinematics.X_WL.size());
    Eigen::Matrix2d spread = Eigen::Matrix2d::Zero();
    for (const Pose& X_WL : kinematics.X_WL) {
      const Eigen::Vector2d d = view * X_WL.p - mean;
      spread += d * d.transpose();
    }
    const double smaller =
        0.5 * spread.trace() - std::hypot(0.5 * (spread(0, 0) - spread(1, 1)), spread(0, 1));
    if (smaller <= widest) continue;
    widest = smaller;
    best = q;
  }
  return best;
}

nlohmann::ordered_json rounded(const Vector3d& v) {
  const auto mm = [](double x) { return std::round(x * 1e5) / 1e5; };
  return {mm(v.x()), mm(v.y()), mm(v.z())};
}

nlohmann::ordered_json bodyData(const SceneBody& body) {
  if (!body.exists) return nullptr;
  return {{"m", body.mass},
          {"ok", body.possible},
          {"c", rounded(body.com)},
          {"h",
           {rounded(body.half_axes.col(0)), rounded(body.half_axes.col(1)),
            rounded(body.half_axes.col(2))}}};
}

/// Paths of one body in the picture: outline, and the three sections through its axes.
std::string bodyPaths(const SceneBody& body, const char* kind, const Matrix3d& view,
                      const Vector3d& centre, double scale) {
  if (!body.exists) return {};
  const Vector3d at = view * (body.com - centre) * scale;
  const Eigen::Matrix<double, 2, 3> half = (view * body.half_axes * scale).topRows<2>();
  const auto point = [&](const Eigen::Vector2d& p) {
    return fmt::format("{:.1f} {:.1f}", 0.5 * kSceneSize + at.x() + p.x(),
                       0.5 * kSceneSize - at.y() - p.y());
  };
  const auto ellipse = [&](const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
    constexpr int kCorners = 48;
    std::string path;
    for (int k = 0; k < kCorners; ++k) {
      const double t = kSceneTau * k / kCorners;
      path += (k == 0 ? "M" : "L") + point(std::cos(t) * a + std::sin(t) * b);
    }
    return path + "z";
  };
  // the outline: eigenvectors of the projected matrix
  const Eigen::Matrix2d A = half * half.transpose();
  const double mean = 0.5 * A.trace(), difference = 0.5 * (A(0, 0) - A(1, 1));
  const double root = std::hypot(difference, A(0, 1));
  const double turn = 0.5 * std::atan2(A(0, 1), difference);
  const Eigen::Vector2d first(std::cos(turn), std::sin(turn)), second(-first.y(), first.x());
  const std::string outline = ellipse(std::sqrt(std::max(0.0, mean + root)) * first,
                                      std::sqrt(std::max(0.0, mean - root)) * second);
  const std::string sections = ellipse(half.col(0), half.col(1)) +
                               ellipse(half.col(1), half.col(2)) +
                               ellipse(half.col(0), half.col(2));
  const char* wrong = body.possible ? "" : " wrong";
  return fmt::format(
      "<path class=\"body {0}{1}\" d=\"{2}\"/><path class=\"rib {0}{1}\" d=\"{3}\"/>"
      "<path class=\"com {0}{1}\" d=\"M{4}h0\"/>",
      kind, wrong, outline, sections, point(Eigen::Vector2d::Zero()));
}

}  // namespace

Scene linkScene(const Tree& tree, const std::vector<Eigen::VectorXd>& postures,
                const Eigen::VectorXd& before, const Eigen::VectorXd& after) {
  const Model& model = tree.model();
  Kinematics kinematics(tree);
  computeKinematics(tree, spreadPosture(tree, postures), kinematics);
  Scene scene;
  std::vector<Vector3d> carrier(model.links.size());  // where the link is carried
  for (size_t l = 0; l < model.links.size(); ++l) carrier[l] = kinematics.X_WL[l].p;
  const Traversal traversal = traverse(model, tree.baseLink());
  for (const int link : traversal.order) {
    const int joint = traversal.parent_joint[static_cast<size_t>(link)];
    if (joint < 0) continue;
    const Joint& by = model.joints[static_cast<size_t>(joint)];
    const int parent = traversal.parent[static_cast<size_t>(link)];
    const Vector3d at = (kinematics.X_WL[static_cast<size_t>(by.first)] * by.X_FJ).p;
    carrier[static_cast<size_t>(link)] = at;
    scene.lines.insert(scene.lines.end(), {carrier[static_cast<size_t>(parent)], at});
    if (velocityCount(by.type) > 0) scene.joints.push_back(at);
  }
  for (const Frame& frame : model.frames) {
    const auto link = static_cast<size_t>(frame.link);
    scene.lines.insert(scene.lines.end(),
                       {carrier[link], framePose(kinematics, frame.link, frame.X_LF).p});
  }
  for (const int link : traversal.order) {
    if (link == tree.baseLink()) continue;
    const Pose& X_WL = kinematics.X_WL[static_cast<size_t>(link)];
    scene.links.push_back({model.links[static_cast<size_t>(link)].name,
                           sceneBody(before, link, X_WL), sceneBody(after, link, X_WL)});
  }
  // the box around the skeleton and the bodies; a body as large as ten robots does not count
  Vector3d low = Vector3d::Constant(1e9), high = -low;
  const auto include = [&](const Vector3d& p, double size) {
    low = low.cwiseMin(p - Vector3d::Constant(size));
    high = high.cwiseMax(p + Vector3d::Constant(size));
  };
  for (const Vector3d& p : scene.lines) include(p, 0.0);
  const double reach = scene.lines.empty() ? 1.0 : std::max(0.1, (high - low).norm());
  for (const SceneLink& link : scene.links) {
    for (const SceneBody* body : {&link.before, &link.after}) {
      const double size = body->half_axes.norm();
      if (body->exists && size < reach && ((body->com - 0.5 * (low + high)).norm() < 2.0 * reach))
        include(body->com, 0.5 * size);
    }
  }
  if ((high - low).minCoeff() < 0.0) return scene;
  scene.centre = 0.5 * (low + high);
  scene.radius = std::max(0.05, 0.5 * (high - low).norm());
  return scene;
}

std::string sceneHtml(const Scene& scene) {
  const Matrix3d view = viewFrom(kAzimuth, kElevation);
  const double scale = 0.48 * kSceneSize / scene.radius;
  const auto point = [&](const Vector3d& p) {
    const Vector3d at = view * (p - scene.centre) * scale;
    return fmt::format("{:.1f} {:.1f}", 0.5 * kSceneSize + at.x(), 0.5 * kSceneSize - at.y());
  };
  std::string bones, pins;
  for (size_t i = 0; i + 1 < scene.lines.size(); i += 2)
    bones += "M" + point(scene.lines[i]) + "L" + point(scene.lines[i + 1]);
  for (const Vector3d& joint : scene.joints) pins += "M" + point(joint) + "h0";
  std::string bodies;
  nlohmann::ordered_json data = {{"centre", rounded(scene.centre)}, {"radius", scene.radius}};
  data["links"] = nlohmann::ordered_json::array();
  for (const SceneLink& link : scene.links) {
    data["links"].push_back(
        {{"name", link.name}, {"before", bodyData(link.before)}, {"after", bodyData(link.after)}});
    bodies += bodyPaths(link.before, "before", view, scene.centre, scale) +
              bodyPaths(link.after, "after", view, scene.centre, scale);
  }
  for (const auto& [key, points] : {std::pair("lines", &scene.lines), {"joints", &scene.joints}}) {
    data[key] = nlohmann::ordered_json::array();
    for (const Vector3d& p : *points) data[key].push_back(rounded(p));
  }
  // "</" would end the script element
  std::string text = data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos;) text.replace(at, 2, "<\\/");
  return fmt::format(
      "<div class=\"scene\" data-azimuth=\"{0}\" data-elevation=\"{1}\">\n"
      "<svg viewBox=\"0 0 {2} {2}\" role=\"img\"><title>Inertia ellipsoids of the links, before "
      "and after</title>\n<path class=\"bone\" d=\"{3}\"/><path class=\"pin\" d=\"{4}\"/>\n"
      "<g class=\"bodies\">{5}</g></svg>\n"
      "<p class=\"switches\"><span class=\"key before\"></span>as given "
      "<span class=\"key after\"></span>identified</p>\n"
      "<script type=\"application/json\">{6}</script>\n</div>\n",
      kAzimuth, kElevation, kSceneSize, bones, pins, bodies, text);
}

const char* sceneStyle() {
  return ".pair>.scene{flex:1 1 400px;max-width:560px;min-width:280px}\n"
         ".scene svg{width:100%;height:auto;touch-action:pan-y;user-select:none;cursor:grab;"
         "background:var(--card);border:1px solid var(--line);border-radius:8px}\n"
         ".scene path{fill:none;stroke-linecap:round;stroke-linejoin:round}\n"
         ".scene .bone{stroke:var(--muted);stroke-width:5;opacity:.45}\n"
         ".scene .pin{stroke:var(--muted);stroke-width:11}\n"
         ".scene .body{stroke-width:1.5}.scene .rib{stroke-width:.6;opacity:.6}"
         ".scene .com{stroke-width:7}\n"
         ".scene .before{stroke:var(--before)}.scene .body.before{fill:var(--before);"
         "fill-opacity:.10;stroke-dasharray:4 3}\n"
         ".scene .after{stroke:var(--after)}.scene .body.after{fill:var(--after);"
         "fill-opacity:.18}\n"
         ".scene .wrong{stroke:var(--bad)}.scene .body.wrong{fill:var(--bad)}\n"
         ".scene text{font-size:12px;fill:var(--ink);paint-order:stroke;stroke:var(--card);"
         "stroke-width:4px}\n"
         ".scene .dim{opacity:.12}\n"
         ".switches{margin:.4rem 0;color:var(--muted)}.switches label{margin-right:1rem}\n"
         ".key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .35em 0 0;"
         "vertical-align:-.05em}\n"
         ".key.before{background:var(--before)}.key.after{background:var(--after)}\n";
}

const char* sceneScript() {
  return R"js(for (const scene of document.querySelectorAll(".scene")) {
  const data = JSON.parse(scene.querySelector("script").textContent), svg = scene.querySelector("svg");
  const size = svg.viewBox.baseVal.width, shown = {before: true, after: true};
  let azimuth = +scene.dataset.azimuth, elevation = +scene.dataset.elevation, zoom = 1, picked = null, drag = null;
  const draw = () => {
    const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
    const view = [[-sa, ca, 0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]], scale = 0.48 * size / data.radius * zoom;
    const turned = v => view.map(row => scale * (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]));
    const placed = p => turned([p[0] - data.centre[0], p[1] - data.centre[1], p[2] - data.centre[2]]);
    const xy = (x, y) => `${(size / 2 + x).toFixed(1)} ${(size / 2 - y).toFixed(1)}`;
    const at = p => { const q = placed(p); return xy(q[0], q[1]); };
    let bones = "", pins = "";
    for (let i = 0; i + 1 < data.lines.length; i += 2) bones += `M${at(data.lines[i])}L${at(data.lines[i + 1])}`;
    for (const joint of data.joints) pins += `M${at(joint)}h0`;
    svg.querySelector(".bone").setAttribute("d", bones);
    svg.querySelector(".pin").setAttribute("d", pins);
    const bodies = [];
    for (const link of data.links) for (const kind of ["before", "after"]) {
      const body = link[kind];
      if (!body || !shown[kind]) continue;
      const c = placed(body.c), h = body.h.map(turned);
      const ellipse = (a, b) => {
        let d = "";
        for (let k = 0; k < 48; ++k) {
          const s = Math.cos(Math.PI * k / 24), t = Math.sin(Math.PI * k / 24);
          d += (k ? "L" : "M") + xy(c[0] + s * a[0] + t * b[0], c[1] + s * a[1] + t * b[1]);
        }
        return d + "z";
      };
      const sum = (i, j) => h[0][i] * h[0][j] + h[1][i] * h[1][j] + h[2][i] * h[2][j];
      const mean = (sum(0, 0) + sum(1, 1)) / 2, difference = (sum(0, 0) - sum(1, 1)) / 2, root = Math.hypot(difference, sum(0, 1));
      const turn = Math.atan2(sum(0, 1), difference) / 2, u = Math.cos(turn), v = Math.sin(turn);
      const a = Math.sqrt(Math.max(0, mean + root)), b = Math.sqrt(Math.max(0, mean - root));
      const look = kind + (body.ok ? "" : " wrong") + (picked && picked !== link.name ? " dim" : "");
      bodies.push([c[2], `<path class="body ${look}" d="${ellipse([a * u, a * v], [-b * v, b * u])}"/>` +
        `<path class="rib ${look}" d="${ellipse(h[0], h[1])}${ellipse(h[1], h[2])}${ellipse(h[0], h[2])}"/>` +
        `<path class="com ${look}" d="M${xy(c[0], c[1])}h0"/>` +
        (picked === link.name ? `<text x="${size / 2 + c[0] + 8}" y="${size / 2 - c[1] - 8}">${body.m.toPrecision(3)} kg</text>` : "")]);
    }
    bodies.sort((a, b) => a[0] - b[0]);
    svg.querySelector(".bodies").innerHTML = bodies.map(b => b[1]).join("");
  };
  svg.addEventListener("pointerdown", event => { drag = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); event.preventDefault(); });
  svg.addEventListener("pointermove", event => {
    if (!drag) return;
    azimuth -= (event.clientX - drag[0]) * 0.008;
    elevation = Math.min(1.57, Math.max(-1.57, elevation + (event.clientY - drag[1]) * 0.008));
    drag = [event.clientX, event.clientY];
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { drag = null; });
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom = Math.min(20, Math.max(0.2, zoom * Math.exp(-(event.deltaY + event.deltaX) * 0.002)));
    draw();
  }, {passive: false});
  svg.addEventListener("dblclick", () => { azimuth = +scene.dataset.azimuth; elevation = +scene.dataset.elevation; zoom = 1; draw(); });
  const switches = scene.querySelector(".switches");
  switches.replaceChildren();
  for (const [kind, name] of [["before", "as given"], ["after", "identified"]]) {
    const label = document.createElement("label"), box = document.createElement("input"), key = document.createElement("span");
    box.type = "checkbox";
    box.checked = true;
    key.className = "key " + kind;
    box.addEventListener("change", () => { shown[kind] = box.checked; draw(); });
    label.append(box, " ", key, name);
    switches.append(label);
  }
  switches.append("Drag to turn, shift and wheel to enlarge, double-click to go back.");
  for (const row of document.querySelectorAll("tr[data-link]")) {
    row.addEventListener("pointerenter", () => { picked = row.dataset.link; draw(); });
    row.addEventListener("pointerleave", () => { picked = null; draw(); });
  }
  draw();
}
)js";
}

}  // namespace proprio
