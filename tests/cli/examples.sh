# SPDX-License-Identifier: Apache-2.0
# Training and judging the examples, for the tests that do. Usage: after tap.sh, `. "$top_srcdir/tests/cli/examples.sh"`.

examples=$top_srcdir/examples

# json FILE KEY: the number of a key in one line of JSON.
json() { sed -n "s/.*\"$2\": *\\([-0-9.e+]*\\).*/\\1/p" "$1" | tail -1; }

# train NAME [options]: leaves weights.bin, and in best.json the measures of the start that won. One thread: the models
# are small, and the result is the same.
train() {
	name=$1
	shift
	rm -rf runs
	"$QCNN" train "$examples/$name/config.yaml" --set log.dir="$PWD/runs" -o weights.bin -q --set run.threads=1 "$@" || return 1
	sed -n 's/.*"metrics": {\([^}]*\)}.*/{\1}/p' runs/latest/run.json >best.json
}

# infer NAME [options]: the file just written, judged on the part that training never saw, in infer.json.
infer() {
	name=$1
	shift
	"$QCNN" infer weights.bin --data-dir "$examples/$name" --json "$@" >infer.json
}

# seeds NAME LAST KEY [options]: the measure infer_KEY of seeds 1 to LAST, a line each.
seeds() {
	name=$1 last=$2 key=$3
	shift 3
	seed=1
	while [ $seed -le "$last" ]; do
		train "$name" --set run.seed=$seed "$@" && infer "$name" && json infer.json "$key" || return 1
		seed=$((seed + 1))
	done
}

# holds NUMBER COMPARISON NUMBER: words that are no numbers compare to nothing.
holds() { awk -v a="$1" -v b="$3" "BEGIN { n = \"^[-+]?[0-9.]+(e[-+]?[0-9]+)?\$\"; exit !(a ~ n && b ~ n && a + 0 $2 b + 0) }"; }
mean() { awk '{ sum += $1 } END { if (NR) printf "%.4f\n", sum / NR }' "$1"; }
least() { sort -g "$1" | head -1; }

# crossing STEP: from the text of infer, samples STEP apart: where the outputs cross zero from above, between two samples.
crossing() {
	awk -v step="$1" '
		!column { for (i = 1; i <= NF; i++) if ($i == "output") column = i; next }
		/^[0-9]/ { y = $column; if (above > 0 && y <= 0) print step * ($1 - 1 + above / (above - y)); above = y }'
}
