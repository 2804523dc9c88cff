#include <memory>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_schema.h"

namespace proprio::apps {

Run addSchema(CLI::App& verb) {
  const auto out = std::make_shared<std::string>();
  verb.add_option("--json", *out, "write it to this file instead of the screen")->type_name("FILE");
  return [out] {
    if (out->empty())
      print(robotSchema());
    else
      writeFileAtomically(*out, robotSchema());
    return 0;
  };
}

}  // namespace proprio::apps
