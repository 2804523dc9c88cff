#pragma once

/// The problem of lmi_least_squares.h for SDPA (Debian package sdpa), an independent solver of
/// semidefinite programs: as a text file to the program, its answer from its report.
///
///   minimise s  subject to  [1, R x - c; (R x - c)^T, s] >= 0,  S_k(x) >= 0,  G x >= h
///
/// so that s = |R x - c|^2. Log-det and linear terms are not for it. Where R has full rank its
/// unknowns are y = R x instead of x: all directions then weigh alike in the objective, without
/// which it does not reach its tolerance on data that tell some parameters a thousand times better
/// than others.

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "proprio/core/testing/temp_folder.h"
#include "proprio/numerics/dense.h"
#include "proprio/numerics/lmi_least_squares.h"

namespace proprio::testing {

inline bool haveSdpa() { return std::system("command -v sdpa > /dev/null 2>&1") == 0; }

struct SdpaAnswer {
  bool optimal = false;
  double objective = 0.0;  ///< of the LmiProblem
  double seconds = 0.0;    ///< main loop as SDPA reports it, without start and text
};

/// The problem in y = R x; as it is if some direction of x is hardly seen.
inline LmiProblem inUnitsOfRows(LmiProblem problem) {
  const Eigen::MatrixXd R = problem.A;
  const Eigen::Index n = R.cols();
  const Eigen::VectorXd pivots = R.diagonal().cwiseAbs();
  if (R.rows() != n || !(pivots.minCoeff() > 1e-12 * pivots.maxCoeff())) return problem;
  const Eigen::MatrixXd inverse = solveUpper(R, Eigen::MatrixXd::Identity(n, n));
  std::vector<int> all(static_cast<size_t>(n));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  problem.A = Eigen::MatrixXd::Identity(n, n);
  for (PsdBlock& block : problem.blocks) {
    block.map = (block.map * inverse(block.variables, Eigen::all)).eval();
    block.variables = all;
  }
  for (LinearInequality& row : problem.inequalities) {
    row.coefficients = (inverse(row.variables, Eigen::all).transpose() * row.coefficients).eval();
    row.variables = all;
  }
  return problem;
}

/// Upper triangles, one entry per line: matrix, block, row, column, value; X = sum F_i x_i - F_0.
inline void writeSdpa(const LmiProblem& problem, double scale, const std::string& path) {
  const auto n = static_cast<int>(problem.A.cols());
  const LmiProblem small = inUnitsOfRows(withTriangularRows(problem));
  const auto rows = static_cast<int>(small.A.rows());
  const auto blocks = static_cast<int>(small.blocks.size());
  const auto inequalities = static_cast<int>(small.inequalities.size());
  std::ofstream file(path);
  file << n + 1 << " = mDIM\n" << blocks + 1 + (inequalities > 0) << " = nBLOCK\n";
  for (int k = 0; k < blocks; ++k) file << "4 ";
  file << rows + 1;
  if (inequalities > 0) file << " " << -inequalities;
  file << " = bLOCKsTRUCT\n";
  for (int i = 0; i < n; ++i) file << "0 ";
  file << "1\n";
  const auto entry = [&](int matrix, int block, int i, int j, double value) {
    if (value != 0.0) file << fmt::format("{} {} {} {} {:.17g}\n", matrix, block, i, j, value);
  };
  constexpr int kRow[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3}, kColumn[] = {0, 0, 1, 0, 1, 2, 0, 1, 2, 3};
  const auto triangle = [&](int matrix, int block, const auto& entries, double sign) {
    for (int e = 0; e < 10; ++e)
      entry(matrix, block, kColumn[e] + 1, kRow[e] + 1, sign * entries[e]);
  };
  for (int k = 0; k < blocks; ++k) {
    const PsdBlock& block = small.blocks[static_cast<size_t>(k)];
    triangle(0, k + 1, block.constant, -1.0);
    for (size_t i = 0; i < block.variables.size(); ++i)
      triangle(block.variables[i] + 1, k + 1, block.map.col(static_cast<Eigen::Index>(i)), 1.0);
  }
  for (int i = 0; i < rows; ++i) {
    entry(0, blocks + 1, i + 1, i + 1, -1.0);
    entry(0, blocks + 1, i + 1, rows + 1, small.b[i] * scale);
    for (int k = 0; k < n; ++k) entry(k + 1, blocks + 1, i + 1, rows + 1, small.A(i, k) * scale);
  }
  entry(n + 1, blocks + 1, rows + 1, rows + 1, 1.0);
  for (int l = 0; l < inequalities; ++l) {
    const LinearInequality& row = small.inequalities[static_cast<size_t>(l)];
    entry(0, blocks + 2, l + 1, l + 1, row.lower);
    for (size_t i = 0; i < row.variables.size(); ++i)
      entry(row.variables[i] + 1, blocks + 2, l + 1, l + 1,
            row.coefficients[static_cast<Eigen::Index>(i)]);
  }
}

/// @param expected  objective that makes SDPA's own one, which it knows to about 1e-7
inline SdpaAnswer solveWithSdpa(const LmiProblem& problem, double expected) {
  const TempFolder own;
  const std::string folder = own.path().string();
  const double scale = 1.0 / std::sqrt(2.0 * std::max(expected, 1e-300));
  writeSdpa(problem, scale, folder + "/in.dat-s");
  std::ofstream(folder + "/param") << "200 maxIteration\n1.0E-7 epsilonStar\n1.0E2 lambdaStar\n"
                                      "2.0 omegaStar\n-1.0E8 lowerBound\n1.0E8 upperBound\n"
                                      "0.1 betaStar\n0.2 betaBar\n0.9 gammaStar\n"
                                      "1.0E-7 epsilonDash\n";
  const std::string command = fmt::format(
      "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 sdpa -ds {0}/in.dat-s -o {0}/out -p {0}/param "
      "-numThreads 1 > /dev/null 2>&1",
      folder);
  SdpaAnswer answer;
  if (std::system(command.c_str()) == 0) {
    std::ifstream report(folder + "/out");
    bool feasible = false;
    for (std::string line; std::getline(report, line);) {
      const auto equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string value = line.substr(equals + 1);
      if (line.find("phase.value") != std::string::npos)
        feasible =
            value.find("pdOPT") != std::string::npos || value.find("pdFEAS") != std::string::npos;
      if (line.rfind("relative gap", 0) == 0)
        answer.optimal = feasible && std::abs(std::strtod(value.c_str(), nullptr)) < 5e-7;
      if (line.rfind("objValPrimal", 0) == 0)
        answer.objective = std::strtod(value.c_str(), nullptr);
      if (line.find("main loop time") != std::string::npos)
        answer.seconds = std::strtod(value.c_str(), nullptr);
    }
    answer.objective = 0.5 * answer.objective / (scale * scale);
  }
  return answer;
}

}  // namespace proprio::testing
