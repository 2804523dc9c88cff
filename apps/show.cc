#include <memory>

#include "apps/verb.h"
#include "proprio/model/describe.h"
#include "proprio/model/tree.h"

namespace proprio::apps {

Run addShow(CLI::App& verb) {
  struct ShowOptions : RobotOptions {
    bool keep_fixed = false;
  };
  const auto options = std::make_shared<ShowOptions>();
  addRobotOptions(verb, *options);
  verb.add_flag("--keep-fixed", options->keep_fixed, "show fixed joints instead of lumping them");
  return [options] {
    const auto model = std::make_shared<const Model>(readRobot(*options, !options->keep_fixed));
    const Tree tree(model);  // a base from which the robot cannot be computed is refused here too
    writeJson(*options, describeJson(*model));
    print(describe(*model, colourWanted()));
    return 0;
  };
}

}  // namespace proprio::apps
