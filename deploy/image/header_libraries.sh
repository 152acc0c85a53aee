#!/usr/bin/env bash
# The Debian packages of libraries that consist of headers only: their code is in the binary, and no shared library of
# them in the image. tests/integration/image_test.sh compares the list with the headers that were compiled.
set -euo pipefail
for header in boost/version.hpp nlohmann/json.hpp CLI/CLI.hpp; do
  dpkg-query -S "/usr/include/$header" | sed 's/:.*//'
done
