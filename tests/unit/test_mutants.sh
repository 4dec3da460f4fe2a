# SPDX-License-Identifier: Apache-2.0
# The parts of `make check-mutants`: which mutants there are and which are picked, how one is put into a source, what the
# table counts, and that a mutant can reach nothing outside its folder.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

mutants=$top_srcdir/tests/mutants
tab=$(printf '\t')
mkdir -p a b
pick() {
	count=$1 seed=$2 folders=$3
	shift 3
	awk -v count="$count" -v seed="$seed" -v folders="$folders" -f "$mutants/pick.awk" "$@"
}
# every FILE: each mutant of the file once, as `operator: line after`.
every() { pick 400 1 a "$1" | awk -F '\t' '{ print $5 ": " $7 }' | sort -u; }
# body LINE...: a function with these lines.
body() { printf 'int f(void)\n{\n'; printf '\t%s\n' "$@"; printf '}\n'; }

cat >a/none.c <<'END'
/* a < b && c
 * d + 1 */
#define MAX(a, b) ((a) < (b) ? (b) : \
	(a) + 1)
static const int limit = 10 + 1;
struct s {
	int at[4];
};
int f(void)
{
	/* x = a + 1; */
	int n[12];	/* 3 < 4 */
	const char *text;
	assert(n[0] < 3);
	BUG("n + 1 < %d", 2);
	free(p);
#if A < 1
#endif
out:
	;
}
END
tap_is "$(every a/none.c)" "" "comments, macros, declarations, assertions and calls of free are left alone"

body 'if (a < b && !c) {' >a/if.c
tap_is "$(every a/if.c)" "and/or: if (a < b || !c) {
comparison: if (a <= b && !c) {
condition: if (!(a < b && !c)) {
not: if (a < b && c) {" "a condition: negated, its comparison, its operators"
body 'for (i = 0; i < n; i++)' >a/for.c
tap_is "$(every a/for.c)" "comparison: for (i = 0; i <= n; i++)
constant: for (i = 1; i < n; i++)" "the bounds of a loop"
body 'total += 2u * n;' >a/sum.c
tap_is "$(every a/sum.c)" "arithmetic: total += 2u / n;
arithmetic: total -= 2u * n;
constant: total += 1u * n;
constant: total += 3u * n;
statement: ;" "a statement: dropped, its operators, its constants"
body 'return code;' 'return 0;' 'return true;' >a/return.c
tap_is "$(every a/return.c)" "constant: return 1;
return: return 0;
true/false: return false;" "what is returned"
body 'say("a < 1 && b", x);' "say('<', x);" >a/text.c
tap_is "$(every a/text.c)" "statement: ;" "texts and characters are left alone"
body 'int *p = x->y, n = -3;' 'scale(1e-9, 0x10, 0.5);' >a/number.c
tap_is "$(every a/number.c)" "constant: int *p = x->y, n = -2;
constant: int *p = x->y, n = -4;
constant: scale(1e-9, 0x10, (0.5 + 1));
statement: ;" "arrows, signs and numbers with exponents are left alone"
body 'if (a)' 'break;' 'call(a,' 'b);' >a/jump.c
tap_is "$(every a/jump.c)" "break/continue: continue;
condition: if (!(a))" "jumps; not a part of a statement"

for i in 1 2 3 4 5 6 7 8 9; do body "x = $i;"; done >a/nine.c
for i in 1 2 3; do body "y = $i;"; done >b/three.c
pick 8 5 'a b' a/nine.c b/three.c >eight
pick 4 5 'a b' a/nine.c b/three.c >four
head -n 4 eight >head
tap_same four head "a larger number keeps the mutants of a smaller one"
pick 8 6 'a b' a/nine.c b/three.c >other
tap_ok "another seed picks others" sh -c '! cmp -s eight other'
tap_is "$(cut -f 2 eight | sort | uniq -c | tr -s ' \n' ' ')" " 6 a 2 b " "each folder in proportion to its lines"
tap_is "$(cut -f 8 eight | sort -u)" f "with the function"
tap_is "$(cut -f 3,4,7 eight | sort -u | wc -l | tr -d ' ')" 8 "no mutant twice"

body 'x = 1;' 'y = 2;' 'x = 1;' >c.c
before='x = 1;' after='x = 2 & "\n";' awk -v line=5 -f "$mutants/apply.awk" c.c >applied
body 'x = 1;' 'y = 2;' 'x = 2 & "\n";' >wanted
tap_same applied wanted "the line nearest to the number is replaced, letter by letter"
tap_exit 1 "a line that is gone" env before='z = 1;' after=';' awk -v line=5 -f "$mutants/apply.awk" c.c

# row INDEX FOLDER BEFORE VERDICT TEST
row() { printf '%s\t%s\t%s/x.c\t7\tconstant\t%s\tafter\t%s\t%s\t1\tf\n' "$1" "$2" "$2" "$3" "$4" "$5"; }
{
	row 1 a one killed tests/t; row 2 a two survived ''; row 3 b three survived ''; row 4 b four 'same code' ''
	row 5 b five 'not compiled' ''; row 6 a six gone ''; row 7 b seven survived ''; row 7 b seven killed tests/t
} >log
printf '# file, function, before, after, why\nb/x.c\tf\tthree\tafter\tchanges nothing\na/x.c\tg\ttwo\tafter\tof another function\n' >equivalent
table() { awk -F '\t' -v equivalents=equivalent -v goal="$1" -v again="${2:-}" -f "$mutants/table.awk" log; }
table 0 | tr -s ' ' >table
tap_has table "a 2 0 0 0 1 1 50.0%" "a folder's row"
tap_has table "b 4 1 1 1 1 0 100.0%" "the last result of a mutant counts; equivalent ones count neither way"
tap_has table "all 6 1 1 1 2 1 66.7%" "the row of all folders"
tap_has table "2 a/x.c:7 f (constant)" "survivors are shown"
tap_is "$(table 0 again | cut -f 1,3,8)" "2${tab}a/x.c${tab}f" "and tried again, without those that are equivalent"
tap_ok "a goal that is reached" table 66
tap_ok "a goal that is missed" sh -c "! awk -F '\t' -v equivalents=equivalent -v goal=67 -f '$mutants/table.awk' log >/dev/null"
tap_is "$(awk -F '\t' '!/^#/ && (NF != 5 || $5 == "")' "$mutants/equivalent")" "" "each line of the list of equivalent mutants has its reason"
missing=
for t in $(sed '/^#/d; s/^[^[:blank:]]*//' "$mutants/tests"); do
	[ -e "$top_srcdir/$t" ] || [ -e "$top_srcdir/$t.c" ] || missing="$missing $t"
done
tap_is "$missing" "" "each test that tests/mutants/tests names exists"
for f in $(cd "$top_srcdir" && find lang compiler cli runtime -name '*.c'); do
	found=
	while read -r pattern _; do
		case $f in $pattern) found=1; break ;; esac
	done <"$mutants/tests"
	[ "$found" ] || missing="$missing $f"
done
tap_is "$missing" "" "each source file has tests"

mkdir inside
if sh "$mutants/confine.sh" "$PWD/inside" true 2>/dev/null; then
	sleep 100 &
	outside=$!
	tap_exit 3 "a confined command: its exit status" sh "$mutants/confine.sh" "$PWD/inside" sh -c "echo a >inside/a; rm -f log; kill $outside; exit 3"
	tap_ok "it writes in its folder, and changes and signals nothing else" sh -c "[ -s inside/a ] && [ -s log ] && kill $outside"
	tap_ok "its processes end with it: none holds the pipe" timeout 60 sh -c 'sh "$1" "$2" sh -c "sleep 600 &" | cat' - "$mutants/confine.sh" "$PWD/inside"
else
	tap_skip "no namespaces of processes and mounts"
fi
tap_done
