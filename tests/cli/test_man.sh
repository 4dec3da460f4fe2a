# SPDX-License-Identifier: Apache-2.0
# The manual pages: clean by mandoc, complete by the tables, and their examples run.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"

pages=
for name in $(ls "$top_srcdir"/man/*.in "$top_srcdir"/man/*.[157] 2>/dev/null | sed 's|.*/||; s/\.in$//' | sort -u); do
	page=$top_builddir/man/$name
	[ -f "$page" ] || page=$top_srcdir/man/$name
	pages="$pages $page"
done
tap_is "$(for p in $pages; do basename $p; done | tr '\n' ' ')" \
	"qcnn-bench.1 qcnn-bytecode.5 qcnn-check.1 qcnn-compile.1 qcnn-completions.1 qcnn-config.1 qcnn-config.5 qcnn-draw.1 qcnn-explain.1 qcnn-infer.1 qcnn-info.1 qcnn-init.1 qcnn-lang.7 qcnn-profile.1 qcnn-run.1 qcnn-runs.1 qcnn-train.1 qcnn-weights.1 qcnn-wire.7 qcnn-worker.1 qcnn.1 " \
	"the pages"
if command -v mandoc >/dev/null; then
	for page in $pages; do
		# Whether pages refer to installed ones is no matter here.
		mandoc -T lint "$page" | grep -v 'referenced manual not found' >lint
		tap_is "$(cat lint)" "" "mandoc -T lint $(basename "$page")"
	done
else
	tap_skip "mandoc is not installed"
fi

# Every row of the tables is in a page, but for gates that no model names.
for page in $pages; do cat "$page"; done | sed 's/\\&//g' >all
rows() { sed -e "s/\t/ /g" -e "/|STEP,/d" "$top_srcdir/$1" | sed -n "s/^$2([^\"]*\"\([^\"]*\)\".*/\1/p"; }
absent() {
	rows "$1" "$2" >names
	[ -s names ] || echo "no rows in $1"
	while read -r name; do
		awk -v name="$name" '$1 == ".It" { for (i = 2; i <= NF; i++) if ($i == name) found = 1 } END { exit !found }' all ||
			printf '%s ' "$name"
	done <names
}
tap_is "$(absent lang/gates.def GATE)" "" "every gate"
rows lang/gates.def GATE >groups
awk '$1 " " $2 == ".It Cm" && / No \(([0-9]+ angle|family)/ { print $3 }' all >listed
tap_is "$(cat listed)" "$(cat groups)" "gates in their groups, as the table has them"
tap_is "$(absent lang/gates.def ALIAS)" "" "every alias"
tap_is "$(absent lang/builtins.def BUILTIN)" "" "every function"
tap_is "$(absent runtime/data/generate/generators.def GENERATOR)" "" "every generator"
tap_is "$(sed -n 's/^ERR([A-Z_]*, *\([0-9]*\),.*/\1/p' "$top_srcdir/runtime/base/err.def" | while read -r s; do
	grep -q "^.It $s\$" all || echo $s; done)" "" "every exit status"
for page in $pages; do
	case $page in
	*.1) for s in SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
			grep -q "^.Sh $s" "$page" || echo "$(basename "$page"): $s"
		done ;;
	esac
done >missing
tap_is "$(cat missing)" "" "every page has its sections"

# qcnn-train(1) SECURITY names the test of each promise: below tests/net or tests/cli, or with its folder.
sed -n '/^\.Sh SECURITY/,/^\.Sh EXIT/p' "$top_srcdir/man/qcnn-train.1.in" | grep -o '[a-z/]*test_[a-z_0-9]*\(\.[a-z]*\)*' | sort -u >named
tap_ok "tests are named" [ -s named ]
while read -r name; do
	[ -n "$(cd "$top_srcdir/tests" && find "../$name" "../$name.c" net/"$name" net/"$name.c" cli/"$name" 2>/dev/null)" ] || echo "$name"
done <named >missing
tap_is "$(cat missing)" "" "the tests that SECURITY names exist"

# A default of options.def is in the page of each command that has the option.
sed 's/\t/ /g' "$top_srcdir/cli/options.def" | tr '\n' ' ' | sed 's/OPTION(/\n&/g' |
	sed -n 's/^OPTION([A-Z_]*, \([A-Z_| ]*\), "\([a-z-]*\)", [^,]*, "[^"]*", [A-Z]*, .*, "\([^", ]*\)", *"[A-Z].*/\1:\2:\3/p' >defaults
tap_ok "options have defaults" [ "$(wc -l <defaults)" -gt 15 ]
while IFS=: read -r who name value; do
	for page in $pages; do
		c=$(basename "$page" .1 | sed 's/^qcnn-//' | tr a-z A-Z)
		case " $who " in *" $c "*) ;; *) continue ;; esac
		sed -n "/^\.It .*Fl Fl $name\$/,/^\.It/p; /^\.It .*Fl Fl $name /,/^\.It/p" "$page" | tr '\n' ' ' | sed 's/\\&//g' |
			grep -qi -e "the default is $value\." || echo "$c --$name: $value"
	done
done <defaults >missing
tap_is "$(cat missing)" "" "every default"

# Every environment variable that the sources read, but for those by which Slurm and ssh tell a process where it is.
(cd "$top_srcdir" && grep -rhoE --include='*.c' 'getenv\("[A-Z_]*"\)' cli runtime compiler lang) | sed 's/getenv("\(.*\)")/\1/' | sort -u |
	grep -vx -e SLURMD_NODENAME -e SSH_CONNECTION >variables
tap_ok "variables are read" [ "$(wc -l <variables)" -gt 8 ]
while read -r name; do grep -q "^\.\(It \)*Ev .*$name\b\|Ev $name\b" all || echo "$name"; done <variables >missing
tap_is "$(cat missing)" "" "every environment variable"

version=$(sed -n 's/.*WIRE_VERSION = \([0-9]*\),.*/\1/p' "$top_srcdir/runtime/net/protocol/wire.h")
tap_is "$(sed -n 's/^The version of the protocol is \([0-9]*\)\./\1/p; s/^\.It version Ta u16 Ta \([0-9]*\).*/\1/p' \
	"$top_srcdir/man/qcnn-wire.7.in" | tr '\n' ' ')" "$version $version $version " "qcnn-wire(7) describes this version of the protocol"

# The examples: lines `.Dl $ command`, run in a folder that has what they name; those of a tutorial are test_tutorial.sh's, and those
# of qcnn-profile(1) "READING A PROFILE" test_profile.sh's.
make_files
cp config.yaml plain.yaml
"$QCNN" train -q -o weights.bin config.yaml
"$QCNN" weights convert weights.bin w.npz
sed 's/^const/const float p = 0;  &/; s/^observe/depolarizing(p) q;  &/' cluster.qcnn >noisy.qcnn
{ printf 'a,b,c,d\n'; printf '0,0.5,0,0\n'; } >new4.csv

# The pages of commands that can exit with status 1 say when, and they do; no other page of a command has it. A worker has the
# coordinator's, by BYE.
far='data.label_map={0: -1e200, 1: 1}'
"$QCNN" train -q --set run.seed=8 -o other.bin config.yaml
"$QCNN" train -q -o table.bin table.yaml
"$QCNN" bench --qubits 2 --runs 1 --threads 1 --no-limits --json | sed -E 's/"(min|median)": [0-9.e-]+/"\1": 1e-12/g' >fast.json
echo 'qubit q; param float t = 0; ry(sqrt(t)) q; observe z(q);' >steep.qcnn
tap_exit 1 "bench --compare" "$QCNN" bench --qubits 2 --runs 1 --threads 1 --no-limits --compare fast.json
tap_exit 1 "infer" "$QCNN" infer -q --set "$far" table.bin
tap_exit 1 "info --selftest" "$QCNN" info --selftest --device=null
tap_exit 1 "profile" "$QCNN" profile -q --no-limits --set "$far" table.yaml
tap_exit 1 "run" "$QCNN" run -q --emit=jacobian steep.qcnn
tap_exit 1 "train" "$QCNN" train -q --set "$far" table.yaml
tap_exit 1 "weights diff" "$QCNN" weights diff weights.bin other.bin
for page in $pages; do
	sed -n '/^\.Sh EXIT/,/^\.Sh EXAMPLES/p' "$page" | awk -v page="$(basename "$page")" 'found { print page ": " $0; exit } $0 == ".It 1" { found = 1 }'
done >ones
tap_is "$(cat ones)" "qcnn-bench.1: With --compare, a case is slower; or a value is not finite.
qcnn-infer.1: An output or the loss is not finite.
qcnn-info.1: With --selftest, a test failed.
qcnn-profile.1: The command that is profiled exits with 1.
qcnn-run.1: A value is not finite.
qcnn-train.1: Training failed: a value is not finite.
qcnn-weights.1: With diff, weights, shapes, paths or metadata differ.
qcnn-worker.1: The coordinator has ended the work, as a value is not finite.
qcnn.1: A value is not finite; or what was compared or tested fails, as the command's" "what status 1 means"
for page in $pages; do
	name=$(basename "$page")
	sed '/^\.Sh TUTORIAL/,/^\.Sh/d; /^\.Sh READING/,/^\.Sh/d' "$page" | sed -n 's/^\.Dl \$ //p' | sed 's/\\&//g; s/\\-/-/g' >examples
	while read -r line; do
		rm -rf work
		mkdir work
		cp ./*.qcnn config.yaml samples.csv weights.bin w.npz "$top_srcdir/tests/lang/openqasm/ghz.qasm" work/
		cp new4.csv work/new.csv
		(
			cd work || exit 1
			qcnn() { "$QCNN" "$@"; }
			qcnn train -q config.yaml
			qcnn compile --emit=bytecode -o bell.qbc bell.qcnn
			# A CSV file stands in for the array file.
			case $line in *new.npz*) line=$(echo "$line" | sed 's/new\.npz/new.csv/') ;; esac
			# The limits of the machine take seconds to measure, and are test_bench.sh's; so are calls for a second.
			case $line in
			*"qcnn bench"*--runs* | *"qcnn profile"*) line="$line --no-limits" ;;
			*"qcnn bench"*) line="$line --no-limits --runs=2" ;;
			esac
			eval "$line"
		) >out 2>err
		tap_result $? "$name: $line" || sed 's/^/# /' err
	done <examples
done
tap_done
