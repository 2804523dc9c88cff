#include <memory>

#include "apps/verb.h"
#include "proprio/model/describe.h"

namespace proprio::apps {

Run addShow(CLI::App& verb) {
  struct ShowOptions : RobotOptions {
    bool keep_fixed = false;
  };
  const auto options = std::make_shared<ShowOptions>();
  addRobotOptions(verb, *options);
  verb.add_flag("--keep-fixed", options->keep_fixed, "show fixed joints instead of lumping them");
  return [options] {
    const Model model = readRobot(*options, !options->keep_fixed);
    writeJson(*options, describeJson(model));
    print(describe(model, colourWanted()));
    return 0;
  };
}

}  // namespace proprio::apps
