# SPDX-License-Identifier: Apache-2.0
# Exact shortcuts from outside: named, switched off, refused, and of no consequence but rounding.
. "$top_srcdir/tests/tap.sh"

cp "$top_srcdir/examples/cluster/cluster.qcnn" .
run() { "$QCNN" bench --circuit qcnn --qubits 10 --gradient --batch 200 --runs 1 --no-limits --json "$@"; }
taken() { sed -n 's/.*"shortcuts": "\([^"]*\)".*/\1/p' out; }

# ---- bench and compile ----

tap_exit 0 "bench takes none" run
tap_is "$(taken)" "" "by itself"
tap_exit 0 "--shortcuts" run --shortcuts
tap_is "$(taken)" "batch_rank 11 of 200" "names what was taken"
tap_exit 0 "--shortcuts=batch_rank" run --shortcuts=batch_rank
tap_is "$(taken)" "batch_rank 11 of 200" "likewise"
tap_exit 0 "--shortcuts=none" run --shortcuts=none
tap_is "$(taken)" "" "none"
tap_exit 0 "few samples" run --shortcuts --batch 16
tap_is "$(taken)" "" "are not worth it"
tap_exit 2 "a wrong name" run --shortcuts=batch_rank,rank
tap_has err '`rank` is no shortcut; there are auto, none, batch_rank' "is told, with the right ones"
tap_exit 2 "an empty list" run --shortcuts=
tap_exit 0 "the plan" "$QCNN" compile --emit=plan cluster.qcnn
tap_is "$(grep -c '^shortcut   batch_rank: .* 1000 samples cost .* flops, from a basis of 9 states' out)" 2 \
	"predicts forward and gradient, on and off"
tap_exit 0 "and without" "$QCNN" compile --emit=plan --shortcuts=none cluster.qcnn
tap_is "$(grep -c '^shortcut' out)" 0 "none"

# ---- training ----

cat >config.yaml <<'E2'
model: {file: cluster.qcnn}
data: {generate: cluster-excitation, rounds: 40}
train: {epochs: 4, batch_size: 320, shuffle: true}
run: {seed: 5}
E2
train() { "$QCNN" train -q -o w.bin config.yaml "$@" >/dev/null && "$QCNN" weights convert w.bin w.json && rm w.bin; }
tap_exit 0 "auto" train --set run.threads=1
mv w.json auto.json
tap_exit 0 "with more threads" train --set run.threads=3
tap_same auto.json w.json "the same bits"
tap_exit 0 "none" train --set run.shortcuts=none
tap_is "$(cmp -s auto.json w.json && echo same)" "" "other last digits: it was taken"
numbers() { tr -c '0-9.eE+-' '\n' <"$1" | grep '\.'; }
numbers auto.json >a
numbers w.json >b
tap_ok "but near" sh -c 'paste a b | awk "{ d = \$1 - \$2; if (d < 0) d = -d; if (d > 1e-4) far = 1; n++ } END { exit far || n < 60 }"'

refuse() {
	tap_exit 78 "run.shortcuts: $1" "$QCNN" train -q --set "run.shortcuts=$1" config.yaml
	tap_has err "$2" "says why"
}
refuse rank 'one of: auto, none, batch_rank'
refuse '[batch_rank, none]' '`none` stands alone'
refuse 3 'cannot be'
tap_done
