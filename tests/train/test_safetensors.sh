# SPDX-License-Identifier: Apache-2.0
# weights.bin opens in Python's package safetensors, with the shapes and numbers that `qcnn weights show` prints.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

: "${PYTHON:=python3}"
"$PYTHON" -c 'import safetensors, numpy' 2>/dev/null || tap_skip_all "no Python package safetensors"

tap_exit 0 "a model with a head is trained" "$QCNN" train "$top_srcdir/examples/cluster-hybrid/config.yaml" \
	--set train.epochs=1 --set train.restarts=1 --set log.dir="$PWD/runs" -o w.bin
tap_exit 0 "its weights are shown" "$QCNN" weights show w.bin --json
cat >compare.py <<'END'
import json, sys
from safetensors import safe_open
shown = json.load(open("out"))["params"]
with safe_open("w.bin", framework="numpy") as f:
    names = set(f.keys()) - {"program"}
    assert names == {"params/" + path for path in shown}, names
    for path, want in shown.items():
        got = f.get_tensor("params/" + path)
        assert str(got.dtype) == "float64" and list(got.shape) == want["shape"], path
        assert got.ravel().tolist() == want["values"], path
    assert bytes(f.get_tensor("program"))[:6] == b"QCNNBC"
    assert {"format", "order", "seed", "sha256", "source"} <= set(f.metadata())
END
tap_ok "safetensors reads the same shapes and numbers" "$PYTHON" compare.py
tap_done
