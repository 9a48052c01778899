#!/bin/sh
# Runs other people's clients, unmodified, against the server: MinerU's mineru-vl-utils (Python) and the openai package. Both are installed into
# a folder outside the repository, ${CLIENTS:-~/.cache/mineru-diffusion-clients}, once.
#   sh scripts/check-clients.sh
set -eu
cd "$(dirname "$0")/.."
clients=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/mineru-diffusion-clients}
mkdir -p "$clients/node"
[ -x "$clients/python/bin/python" ] || python3 -m venv "$clients/python"
"$clients/python/bin/python" -c "import mineru_vl_utils, httpx" 2>/dev/null || "$clients/python/bin/pip" install --quiet mineru-vl-utils
[ -d "$clients/node/node_modules/openai" ] || npm install --prefix "$clients/node" --no-audit --no-fund openai
MINERU_TEST_PYTHON="$clients/python/bin/python" \
MINERU_TEST_OPENAI="$clients/node/node_modules/openai/index.mjs" \
  npx vitest run test/clients.test.ts
