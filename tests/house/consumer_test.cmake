# Claim: a project that knows only find_package(proprio) configures, builds and runs against an installed copy.
# Variables: BUILD (proprio's build tree), SOURCE (the consumer), WORK (scratch), FLAGS, COMPILER.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(NOTICE "${out}")
    message(FATAL_ERROR "${what} failed (${result}), see above")
  endif()
  message(STATUS "${what}: done")
endfunction()

file(REMOVE_RECURSE ${WORK})
step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step("configure the consumer" ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER}
     -D CMAKE_CXX_FLAGS=${FLAGS})
step("build the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
step("run the consumer" ${WORK}/build/consumer)
step("run the example of the README" ${WORK}/build/quickstart ${SOURCE}/../../examples/robots/tx40.yaml)
