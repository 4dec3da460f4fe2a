# SPDX-License-Identifier: Apache-2.0
# Every command prints JSON in one form: one line, "schema" first, a space after each colon and comma and nowhere else.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

"$QCNN" init here >init.out 2>&1
cd here || exit 1
"$QCNN" train -q --set train.epochs=1 config.yaml
"$QCNN" train -q --set train.epochs=2 config.yaml
model=model.qcnn
first=$(ls -d runs/here-* | head -n 1)
cat >chain.qcnn <<'END_MODEL'
const int n = 8; qubit[n] q; input float[n] x; let w = q;
ry(each x) on q;
while (len(w) > 1) { layer conv { param float t; rxx(t) on chain(w); cx on zip(w[0:2:-1], w[1:2:-1]); } discard w[0:2:-1]; w = w[1:2:-1]; }
observe z(w);
END_MODEL
printf 'QCNN 1;\nqubit[1] q;\nh q[0];\nobserve z(q[0]);\n' >plain.qcnn

# in_form FILE: what differs from the form. Strings become S first.
in_form() {
	sed -e 's/"\([^"\\]\|\\.\)*"/S/g' "$1" | grep -n -E '[:,][^ ]|[^:,] |  |[:,]$'
	grep -v '^{"schema": [0-9]' "$1" | sed 's/^/does not begin with schema: /'
	[ "$(wc -l <"$1" | tr -d ' ')" = 1 ] || echo "not one line"
}

# The pages that describe the fields of a command; what a page names as "as in run.json" is on that of train.
pages_of() {
	case $1 in runs) echo runs train ;; weights) echo weights train ;; bench) echo bench info ;; *) echo "$1" ;; esac
}
# undocumented FILE COMMAND: fields that the pages do not name. Keys of configurations and names of optimisations are in qcnn-config(5).
undocumented() {
	for p in $(pages_of "$2") config; do
		for f in "$top_builddir/man/qcnn-$p".[15] "$top_srcdir/man/qcnn-$p".[15]; do
			[ ! -f "$f" ] || cat "$f"
		done
	done | sed 's/\\&//g; s/\\-/-/g' | tr -c 'A-Za-z0-9_\n' ' ' | tr ' ' '\n' | sort -u >named
	grep -o '"[a-z][a-z_0-9]*": ' "$1" | tr -d '": ' | sort -u | sed 's/^val_//' | grep -vx -e x -e sign_accuracy >fields
	[ -s fields ] || echo "no fields"
	sort -u fields | comm -23 - named
}

# prints WORDS...: qcnn WORDS prints one object in this form.
prints() {
	"$QCNN" "$@" >out 2>err
	tap_is "$(in_form out | head -n 3 | cut -c1-200)" "" "qcnn $*"
	tap_is "$(undocumented out "$1" | tr '\n' ' ')" "" "its fields are in the manual"
}

prints check --json "$model"
prints check --json config.yaml
prints check --json --const n=64 chain.qcnn
prints compile --emit=plan --json "$model"
flops=$(sed 's/.*"flops_forward": \([^,]*\), "flops_gradient": \([^,]*\), .*/\1 \2/' out | awk '{ printf "%.4g forward, %.4g with gradient", $1, $2 }')
"$QCNN" compile --emit=plan "$model" >plan
tap_is "$(sed -n 's/^flops *\(.* gradient\), a sample.*/\1/p' plan)" "$flops" "its operations are those of the text"
prints compile --emit=plan --json --const n=16 "$model"
"$QCNN" compile --emit=plan --const n=16 "$model" >plan
bytes=$(sed 's/.*"bytes_forward": \([^,]*\), "bytes_gradient": \([^,]*\), "passes_forward": \([^,]*\), "passes_gradient": \([^,]*\), .*/\1 \2 \3 \4/' out |
	awk '{ printf "%.4g forward, %.4g with gradient, a sample, in %d and %d passes over the state", $1, $2, $3, $4 }')
tap_is "$(sed -n 's/^bytes *//p' plan)" "$bytes" "its bytes and passes, too"
stage=$(tr '{' '\n' <out | sed -n '/"forward": *$/{n;s/"flops": \([^,]*\), "bytes": \([^,]*\), "seconds": \([^,}]*\).*/\1 \2 \3/p;q;}' |
	awk '{ printf "%.4g flops, %.4g bytes, %.3g s", $1, $2, $3 }')
tap_is "$(sed -n 's/^ *forward  //p' plan | head -n 1)" "$stage" "and those of a stage"
prints compile --emit=plan --json --const n=64 chain.qcnn
tap_is "$(grep -c '"method": "tensor", .*"tensor": {"networks": 1, ' out)" 1 "of tensors"
if "$QCNN" compile --emit=plan --const n=16 --device=cuda --gpu=h100 --batch=64 "$model" >plan 2>err; then
	prints compile --emit=plan --json --const n=16 --device=cuda --gpu=h100 --batch=64 "$model"
	seconds=$(sed 's/.*"batch": .*"gradient": {"seconds_least": \([^,]*\), "seconds_most": \([^,]*\), .*/\1 \2/' out | awk '{ printf "%.3g to %.3g s", $1, $2 }')
	tap_is "$(sed -n 's/^  with gradient  \(.* s\), and the host.*/\1/p' plan)" "$seconds" "its times, too"
else
	tap_has err "this build has no CUDA" "no plan of a GPU"
fi
prints compile --emit=plan --json --const n=16 --ranks=4 --link=25,2 "$model"
seconds=$(sed 's/.*"link": .*"gradient": {"seconds": \([^,]*\), .*/\1/' out | awk '{ printf "%.4g s", $1 }')
"$QCNN" compile --emit=plan --const n=16 --ranks=4 --link=25,2 "$model" >plan
tap_is "$(sed -n 's/^  with gradient  \(.* s\): .*/\1/p' plan)" "$seconds" "those of ranks, too"
tap_exit 2 "--json without a plan" "$QCNN" compile --json "$model"
tap_has err "--json is for --emit=plan" "is refused"
prints config --json config.yaml
prints draw --json "$model"
prints run --format=json plain.qcnn
prints train --dry-run --json config.yaml
prints train --dry-run --json --hosts local:2 config.yaml
prints train --dry-run --json --const n=8 --set run.split=2 --ranks 2 --link 10 config.yaml
prints infer --json runs/latest/weights.bin
prints weights show --json runs/latest/weights.bin
prints weights diff --json "$first/weights.bin" runs/latest/weights.bin
prints profile --json --no-limits --steps 4 --level=matrices config.yaml
prints profile --json --no-limits --steps 4 --hosts local:1 config.yaml
prints runs --json list
prints runs --json show latest
prints runs --json compare latest "$first"
prints info --json
prints explain --json Q0101
# bench prints a line for the machine and one for each case, as they are measured.
"$QCNN" bench --json --qubits 4 >out
tap_is "$(sed -n 1p out >line; in_form line)" "" "qcnn bench --json, its first line"
tap_is "$(sed -e 's/"\([^"\\]\|\\.\)*"/S/g' out | grep -E '[:,][^ ]')" "" "all lines"
tap_is "$(undocumented out bench | tr '\n' ' ')" "" "its fields are in the manual"
"$QCNN" bench --json --no-limits --qubits 17 --gradient --runs 1 --parts >out
tap_is "$(undocumented out bench | tr '\n' ' ')" "" "also those of --parts"
tap_is "$(in_form runs/latest/run.json)" "" "run.json"
cp "$top_builddir/man/qcnn.1" ./qcnn-main.1 2>/dev/null || cp "$top_srcdir/man/qcnn.1" ./qcnn-main.1
printf 'qubit q; x q; int q = 1; observe z(q);\n' >twice.qcnn
"$QCNN" check --error-format=json twice.qcnn 2>messages
"$QCNN" check --error-format=json nothing.qcnn 2>>messages
tap_is "$(grep -o '"[a-z_]*": ' messages | tr -d '": ' | sort -u | while read -r f; do grep -qw "$f" qcnn-main.1 || echo "$f"; done)" "" \
	"the fields of messages are in qcnn(1)"
"$QCNN" train -q --set train.epochs=3 --set 'train.callbacks={early_stopping: {monitor: loss}}' --hosts local:2 config.yaml
tap_is "$(undocumented runs/latest/run.json train | tr '\n' ' ')" "" "its fields are in the manual"
tap_is "$(undocumented runs/latest/metrics.jsonl train | tr '\n' ' ')" "" "and those of metrics.jsonl"
"$QCNN" infer -q -o out.jsonl runs/latest
tap_is "$(undocumented out.jsonl infer | tr '\n' ' ')" "" "and those of predictions"
tap_is "$(sed -n 1p runs/latest/metrics.jsonl | sed -e 's/"\([^"\\]\|\\.\)*"/S/g' | grep -E '[:,][^ ]')" "" "metrics.jsonl"
tap_done
