#include "proprio/model/mesh_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace proprio {
namespace {

namespace fs = std::filesystem;

// folders of a colon-separated environment variable
std::vector<fs::path> foldersOf(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::string rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return folders;
}

std::vector<fs::path> packageCandidates(const Model& model, const std::string& package) {
  std::vector<fs::path> candidates;
  for (const PackageRoot& root : model.packages) {
    if (root.name == package) candidates.emplace_back(root.folder);
  }
  // the URDF usually lies somewhere inside the package, or in one beside it
  std::error_code ignored;
  fs::path folder = fs::absolute(model.urdf, ignored).parent_path();
  for (; !folder.empty() && folder != folder.root_path(); folder = folder.parent_path()) {
    if (folder.filename() == package) candidates.push_back(folder);
    candidates.push_back(folder / package);
  }
  for (const fs::path& root : foldersOf("ROS_PACKAGE_PATH")) {
    candidates.push_back(root.filename() == package ? root : root / package);
  }
  for (const fs::path& root : foldersOf("AMENT_PREFIX_PATH"))
    candidates.push_back(root / "share" / package);
  return candidates;
}

}  // namespace

std::string findMesh(const Model& model, const std::string& mesh) {
  std::error_code ignored;
  const auto existing = [&](const fs::path& path) {
    return fs::is_regular_file(path, ignored) ? path.lexically_normal().string() : std::string();
  };
  constexpr std::string_view kFile = "file://", kPackage = "package://";
  if (mesh.rfind(kPackage, 0) == 0) {
    const std::string rest = mesh.substr(kPackage.size());
    const size_t slash = rest.find('/');
    if (slash == std::string::npos) return "";
    for (const fs::path& root : packageCandidates(model, rest.substr(0, slash))) {
      if (std::string path = existing(root / rest.substr(slash + 1)); !path.empty()) return path;
    }
    return "";
  }
  const fs::path path = mesh.rfind(kFile, 0) == 0 ? mesh.substr(kFile.size()) : mesh;
  return existing(path.is_absolute() ? path : fs::path(model.urdf).parent_path() / path);
}

}  // namespace proprio
