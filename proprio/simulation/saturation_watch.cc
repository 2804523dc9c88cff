#include <algorithm>
#include <cmath>

#include "proprio/simulation/saturation_watch_internal.h"

namespace proprio::internal {

void SaturationWatch::setUp(Eigen::Index size, double rate) {
  window_ = std::max<Eigen::Index>(1, std::lround(kWindow * rate));
  periods_ = 0;
  for (Eigen::VectorXi* x :
       {&side_, &count_, &reversals_, &last_count_, &last_reversals_, &all_count_, &all_reversals_})
    x->setZero(size);
}

void SaturationWatch::note(const Eigen::VectorXd& torque, const Eigen::VectorXd& limit) {
  ++periods_;
  for (Eigen::Index i = 0; i < torque.size(); ++i) {
    if (!(std::abs(torque[i]) >= limit[i]) || limit[i] == 0.0) continue;
    const int side = torque[i] > 0.0 ? 1 : -1;
    ++count_[i];
    ++all_count_[i];
    if (side_[i] == -side) {
      ++reversals_[i];
      ++all_reversals_[i];
    }
    side_[i] = side;
  }
  if (periods_ % window_ != 0) return;
  last_count_ = count_;
  last_reversals_ = reversals_;
  count_.setZero();
  reversals_.setZero();
}

bool SaturationWatch::anyCycles() const {
  for (Eigen::Index i = 0; i < last_count_.size(); ++i) {
    if (cycles(i)) return true;
  }
  return false;
}

double SaturationWatch::lastShare(Eigen::Index i) const {
  return static_cast<double>(last_count_[i]) / static_cast<double>(window_);
}

double SaturationWatch::share(Eigen::Index i) const {
  return periods_ > 0 ? static_cast<double>(all_count_[i]) / static_cast<double>(periods_) : 0.0;
}

}  // namespace proprio::internal
