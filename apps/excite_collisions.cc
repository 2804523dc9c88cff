#include "apps/excite_collisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>

#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/motion/collision_survey.h"

namespace proprio::apps {
namespace {

EnvironmentBox boxOf(const std::string& text) {
  const std::vector<std::string> halves = splitAt(text, ':');
  std::vector<double> numbers;
  if (halves.size() == 2) {
    for (const std::string_view word : splitWords(halves[1])) {
      const std::optional<double> number = parseNumber(word);
      if (number && std::isfinite(*number)) numbers.push_back(*number);
    }
  }
  if (halves.size() != 2 || (numbers.size() != 6 && numbers.size() != 9)) {
    throw Error(
        fmt::format("--environment {}: expected \"NAME: x y z  length width height\", in "
                    "metres, and roll pitch yaw behind where the box is turned",
                    inQuotes(text)));
  }
  EnvironmentBox box;
  box.name = std::string(splitWords(halves[0]).empty() ? "box" : splitWords(halves[0]).front());
  Vector3d rpy = Vector3d::Zero();
  if (numbers.size() == 9) rpy = Vector3d(numbers[6], numbers[7], numbers[8]);
  box.X_WG = Pose::fromXyzRpy({numbers[0], numbers[1], numbers[2]}, rpy);
  box.size = Vector3d(numbers[3], numbers[4], numbers[5]);
  return box;
}

CollisionOptions collisionsOf(const CollisionArguments& arguments) {
  CollisionOptions collision;
  collision.self = !arguments.no_self_collision;
  for (const std::string& text : arguments.environment) {
    collision.environment.push_back(boxOf(text));
  }
  for (const std::string& text : arguments.disabled) {
    const std::vector<std::string> names = splitAt(text, ':');
    if (names.size() != 2) {
      throw Error(fmt::format("--disable-collision {}: expected two links as A:B", inQuotes(text)));
    }
    collision.disabled.emplace_back(names[0], names[1]);
  }
  return collision;
}

}  // namespace

void addCollisionOptions(CLI::App& verb, CollisionArguments& arguments) {
  verb.add_option("--environment", arguments.environment,
                  "a box to keep away from: \"table: x y z  length width height [r p y]\"");
  verb.add_option("--clearance", arguments.clearance, "least distance of links and boxes, m")
      ->capture_default_str();
  verb.add_option("--disable-collision", arguments.disabled, "do not look at these two links")
      ->type_name("A:B");
  verb.add_flag("--no-self-collision", arguments.no_self_collision,
                "do not look at pairs of links");
}

Unwatched addCollisions(const CollisionArguments& arguments,
                        const std::shared_ptr<const Tree>& tree, ConstraintOptions* constraints) {
  CollisionOptions collision = collisionsOf(arguments);
  const std::vector<Link>& links = tree->model().links;
  Unwatched unwatched;
  for (const Link& link : links) {
    for (const Shape& shape : link.shapes) unwatched.any_shape |= shape.collision;
  }
  for (const int link : shapelessLinks(*tree)) {
    unwatched.links.push_back(links[static_cast<size_t>(link)].name);
  }
  constraints->clearance = arguments.clearance;
  constraints->collisions = std::make_shared<const RobotCollisions>(tree, collision);
  const auto contacts = permanentContacts(*tree, *constraints);
  if (contacts.empty()) return unwatched;
  for (const PermanentContact& contact : contacts) {
    const auto [a, b] = constraints->collisions->links(contact.pair);
    collision.disabled.emplace_back(links[static_cast<size_t>(a)].name,
                                    links[static_cast<size_t>(b)].name);
    unwatched.pairs.push_back(fmt::format(
        "{} ({:.0f} %)", constraints->collisions->pairName(contact.pair), 100.0 * contact.share));
  }
  constraints->collisions = std::make_shared<const RobotCollisions>(tree, collision);
  return unwatched;
}

std::string unwatchedText(const CollisionArguments& arguments, const Unwatched& unwatched) {
  const auto line = [](const std::string& text) { return "  " + wrapped(text, 98, 4) + "\n"; };
  std::string text;
  if (!unwatched.pairs.empty()) {
    text += line(fmt::format(
        "pairs of links not looked at, because they are nearer than {} m at nearly every posture: "
        "{}",
        readable(arguments.clearance), fmt::join(unwatched.pairs, ", ")));
  }
  const bool looked = !arguments.no_self_collision || !arguments.environment.empty();
  if (!looked || unwatched.links.empty()) return text;
  if (!unwatched.any_shape) {
    return text + line("collisions are not looked at, because no link has a collision shape");
  }
  return text + line(fmt::format("links without collision shapes, of which it is not known what "
                                 "they touch: {}",
                                 fmt::join(unwatched.links, ", ")));
}

}  // namespace proprio::apps
