#include <memory>

#include "apps/verb.h"
#include "proprio/core/atomic_file.h"
#include "proprio/model/robot_schema.h"
#include "proprio/report/estimate_json.h"

namespace proprio::apps {

Run addSchema(CLI::App& verb) {
  const auto of = std::make_shared<std::string>("robot");
  const auto out = std::make_shared<std::string>();
  verb.add_option("OF", *of, "robot (of robot.yaml; default) or estimate (of estimate.json)")
      ->check(CLI::IsMember({"robot", "estimate"}));
  verb.add_option("--json", *out, "write it to this file instead of the screen")->type_name("FILE");
  return [of, out] {
    const std::string schema = *of == "estimate" ? estimateSchema() : robotSchema();
    if (out->empty())
      print(schema);
    else
      writeFileAtomically(*out, schema);
    return 0;
  };
}

}  // namespace proprio::apps
