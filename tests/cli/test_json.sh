# SPDX-License-Identifier: Apache-2.0
# Every command prints JSON in one form: one line, "schema" first, a space after each colon and comma and nowhere else.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

"$QCNN" init here >init.out 2>&1
cd here || exit 1
"$QCNN" train -q --set train.epochs=1 config.yaml
"$QCNN" train -q --set train.epochs=2 config.yaml
model=model.qcnn
first=$(ls -d runs/here-* | head -n 1)
printf 'QCNN 1;\nqubit[1] q;\nh q[0];\nobserve z(q[0]);\n' >plain.qcnn

# in_form FILE: what differs from the form. Strings become S first.
in_form() {
	sed -e 's/"\([^"\\]\|\\.\)*"/S/g' "$1" | grep -n -E '[:,][^ ]|[^:,] |  |[:,]$'
	grep -v '^{"schema": [0-9]' "$1" | sed 's/^/does not begin with schema: /'
	[ "$(wc -l <"$1" | tr -d ' ')" = 1 ] || echo "not one line"
}

# prints WORDS...: qcnn WORDS prints one object in this form.
prints() {
	"$QCNN" "$@" >out 2>err
	tap_is "$(in_form out | head -n 3 | cut -c1-200)" "" "qcnn $*"
}

prints check --json "$model"
prints check --json config.yaml
prints config --json config.yaml
prints draw --json "$model"
prints run --format=json plain.qcnn
prints train --dry-run --json config.yaml
prints infer --json runs/latest/weights.bin
prints weights show --json runs/latest/weights.bin
prints weights diff --json "$first/weights.bin" runs/latest/weights.bin
prints runs --json list
prints runs --json show latest
prints runs --json compare latest "$first"
prints info --json
prints explain --json Q0101
# bench prints a line for the machine and one for each case, as they are measured.
"$QCNN" bench --json --qubits 4 >out
tap_is "$(sed -n 1p out >line; in_form line)" "" "qcnn bench --json, its first line"
tap_is "$(sed -e 's/"\([^"\\]\|\\.\)*"/S/g' out | grep -E '[:,][^ ]')" "" "all lines"
tap_is "$(in_form runs/latest/run.json)" "" "run.json"
tap_is "$(sed -n 1p runs/latest/metrics.jsonl | sed -e 's/"\([^"\\]\|\\.\)*"/S/g' | grep -E '[:,][^ ]')" "" "metrics.jsonl"
tap_done
