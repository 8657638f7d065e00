#!/bin/bash
# consume.sh find_package|add_subdirectory|pkg_config SOURCE_DIR PREFIX COMPILER [LAUNCHER]
# Builds consumer.cpp outside the tree, in the given way, against what `cmake --install` put into PREFIX, and runs it.
set -euo pipefail
way=$1 source=$2 prefix=$3 compiler=$4 launcher=${5:-}
here=$source/tests/packaging
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $way == pkg_config ]]; then
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name holdfast.pc)")
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir holdfast)  # for a shared build
  pkg-config --print-errors --exists holdfast
  # shellcheck disable=SC2046  # words, on purpose
  "$compiler" -std=c++20 "$here/consumer.cpp" -o "$work/consumer" $(pkg-config --cflags --libs holdfast)
else
  # No build type: quick to compile, and without -g ccache knows the objects again in another temporary folder.
  cmake -S "$here/$way" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_PREFIX_PATH="$prefix" -DHOLDFAST_SOURCE_DIR="$source"
  cmake --build "$work/build" --target consumer
  ln -s build/consumer "$work/consumer"
fi

"$work/consumer" "$work" | tee "$work/output"
grep -Eq '^token [1-9][0-9]*$' "$work/output"
