#pragma once

/// A robot with two mirrored arms and shapes of every kind.

#include <memory>

#include "proprio/model/lint.h"
#include "proprio/model/tree.h"
#include "proprio/model/urdf_reader.h"

namespace proprio::testing {

/// A torso with two mirrored arms of two joints; the left forearm carries a fixed tool.
inline constexpr const char* kTwoArms = R"(<robot name="two_arms">
  <link name="torso"/>
  <link name="left_upper"><inertial><origin xyz="0 0.05 -0.15"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.021" izz="0.004" ixy="0.001" ixz="0" iyz="0.001"/></inertial>
    <collision><origin xyz="0 0.05 -0.15"/><geometry><box size="0.1 0.12 0.3"/></geometry></collision>
  </link>
  <link name="left_fore"><inertial><origin xyz="0.02 0.03 -0.1"/><mass value="1"/>
    <inertia ixx="0.006" iyy="0.0065" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.12"/><geometry><cylinder radius="0.05" length="0.3"/></geometry>
    </collision></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="0.0002" iyy="0.0002" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right_upper"><inertial><origin xyz="0 -0.05 -0.15"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.021" izz="0.004" ixy="-0.001" ixz="0" iyz="-0.001"/></inertial>
    <collision><origin xyz="0 -0.05 -0.15"/><geometry><box size="0.1 0.12 0.3"/></geometry></collision>
  </link>
  <link name="right_fore"><inertial><origin xyz="0.02 -0.03 -0.1"/><mass value="1"/>
    <inertia ixx="0.006" iyy="0.0065" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="l1" type="revolute"><parent link="torso"/><child link="left_upper"/>
    <origin xyz="0 0.2 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="l2" type="revolute"><parent link="left_upper"/><child link="left_fore"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="fixed" type="fixed"><parent link="left_fore"/><child link="tool"/>
    <origin xyz="0 0 -0.25"/></joint>
  <joint name="r1" type="revolute"><parent link="torso"/><child link="right_upper"/>
    <origin xyz="0 -0.2 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="r2" type="revolute"><parent link="right_upper"/><child link="right_fore"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
</robot>)";

inline std::shared_ptr<const Tree> twoArms() {
  return std::make_shared<const Tree>(
      std::make_shared<const Model>(lumpFixedJoints(readUrdfText(kTwoArms))));
}

}  // namespace proprio::testing
