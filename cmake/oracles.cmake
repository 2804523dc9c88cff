# Independent libraries that tests and benchmarks compare with. Each one found becomes a target proprio_oracle_NAME
# that also defines PROPRIO_HAVE_NAME; one line is printed for each that is missing.

function(proprio_oracle name package)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  if(NOT ${package}_FOUND)
    message(STATUS "Oracle ${name} is missing: tests against it are skipped (./run test installs it)")
    return()
  endif()
  string(TOUPPER ${name} upper)
  add_library(proprio_oracle_${name} INTERFACE)
  target_link_libraries(proprio_oracle_${name} INTERFACE ${arg_LINK})
  target_compile_definitions(proprio_oracle_${name} INTERFACE PROPRIO_HAVE_${upper})
endfunction()

find_package(mujoco QUIET)
proprio_oracle(mujoco mujoco LINK mujoco::mujoco)

# Pinocchio comes from PyPI together with its own Boost, assimp, octomap and urdfdom, so it cannot share a build tree
# with the oracles that use Debian's. Its prefix is searched only here: the library itself stays with Debian's.
if(PROPRIO_PINOCCHIO)
  if(NOT IS_DIRECTORY ${PROPRIO_PINOCCHIO})
    message(FATAL_ERROR "PROPRIO_PINOCCHIO is '${PROPRIO_PINOCCHIO}'; give the folder in which Pinocchio is installed")
  endif()
  list(PREPEND CMAKE_PREFIX_PATH ${PROPRIO_PINOCCHIO})
  find_package(pinocchio REQUIRED)
  list(POP_FRONT CMAKE_PREFIX_PATH)
  proprio_oracle(pinocchio pinocchio LINK pinocchio::pinocchio)
else()
  find_package(DART QUIET)
  proprio_oracle(dart DART LINK dart)
  find_package(orocos_kdl QUIET)
  proprio_oracle(kdl orocos_kdl LINK orocos-kdl)
  find_package(urdfdom QUIET)
  proprio_oracle(urdfdom urdfdom LINK ${urdfdom_TARGETS})
endif()
