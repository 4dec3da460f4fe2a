#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tries random one-line mutants of the sources against the tests and prints how many are killed; `make check-mutants` runs it,
# CONTRIBUTING.md explains it. Use: check.sh [table], in a source folder that is built. Settings come from the environment.
set -u
top=$PWD
here=$top/tests/mutants
count=${MUTANTS:-200} seed=${MUTANTS_SEED:-1} jobs=${MUTANTS_JOBS:-$(nproc 2>/dev/null || echo 2)}
folders=${MUTANTS_FOLDERS:-lang compiler cli runtime/base runtime/program runtime/exec runtime/exec/statevector/cpu runtime/train \
	runtime/data runtime/net runtime/log}
# Limits of a test: CPU seconds of a process, seconds, MiB of address space of a process.
cpu_s=${MUTANTS_CPU_S:-40} wall_s=${MUTANTS_WALL_S:-300} memory_mib=${MUTANTS_MEMORY_MIB:-8192}
make=${MAKE:-make}
log=$top/mutants/seed-$seed.log
tab=$(printf '\t')
unset MAKEFLAGS MAKELEVEL MFLAGS
# Mutants do not belong in a compiler's cache, and threads that wait must not keep the processors from other jobs.
CCACHE_DISABLE=1 LC_ALL=C OMP_WAIT_POLICY=passive TAP_FAIL_FAST=1
export CCACHE_DISABLE LC_ALL OMP_WAIT_POLICY TAP_FAIL_FAST

fail() {
	echo "check-mutants: $*" >&2
	exit 1
}

# The table, or with an argument the plan to try survivors again.
table() {
	awk -F '\t' -v equivalents="$top/tests/mutants/equivalent" -v goal="${MUTANTS_GOAL:-0}" -v again="${1:-}" \
		-f "$here/table.awk" "$log"
}

# The C sources that people write.
sources() {
	find lang compiler cli runtime -name '*.[ch]' | sort | while read -r f; do
		[ -e "${f%.[ch]}.y" ] || [ -e "${f%.[ch]}.l" ] || echo "$f"
	done
}

# What is to be tried: the mutants that the log lacks, or its survivors once more but for equivalent ones.
plan() {
	if [ -n "${MUTANTS_AGAIN:-}" ]; then
		table again | sort -n
	else
		# shellcheck disable=SC2046
		awk -v count="$count" -v seed="$seed" -v folders="$folders" -f "$here/pick.awk" $(sources) |
			awk -F '\t' -v had="$log" 'BEGIN { while ((getline row < had) > 0) { split(row, part); done[part[1]] } } !($1 in done)'
	fi
}

# A copy of the build without debug information: objects can be compared, and programs are linked quickly.
copy_build() {
	cp -a . "$work/0" && rm -rf "$work/0/mutants" "$work/0/sanitize" "$work/0/.git" && mkdir "$work/0/t" || exit 1
	for kind in '*.o' '*.a' programs; do
		case $kind in
		programs) find "$work/0" \( -name 'test_*' ! -name '*.*' -o -path "$work/0/qcnn" -o -name faulty \) -type f ;;
		*) find "$work/0" -name "$kind" ;;
		esac >"$work/files"
		xargs strip -g <"$work/files" && xargs touch <"$work/files" || exit 1
	done
}

# The tests of a source file, from tests/mutants/tests: the rows of one line or of both.
tests_of() {
	awk -v lines="${MUTANTS_LINES:-all}" '/^# Second line/ { second = 1 }
		!/^#/ && (lines == "all" || (lines == "second") == second)' "$here/tests" | while read -r pattern names; do
		# shellcheck disable=SC2254,SC2086
		case $1 in $pattern) printf '%s\n' $names ;; esac
	done | awk '!seen[$0]++'
}

# The best instruction set of this machine that kernels are built for.
best_set() {
	best=base
	for set in avx2 avx512; do
		grep -q -w "$set" /proc/cpuinfo 2>/dev/null || grep -q -w "${set}f" /proc/cpuinfo 2>/dev/null || continue
		[ -e "libkernels_double_$set.a" ] && best=$set
	done
	echo $best
}

# The objects of the build in this folder that are made from a source file. Of the kernels only two, since each takes half
# a minute: single precision for the baseline, double precision for the best instruction set.
objects_of() {
	find lang compiler cli runtime -name '*.Po' -exec grep -l -F " $1" {} + | while read -r f; do
		awk -v file="$1" '{ for (i = 2; i <= NF; i++) found = found || $i == file } NR == 1 { print substr($1, 1, length($1) - 1) } END { exit !found }' "$f"
	done | sort -u | sed -e "/libkernels_single_base_/b" -e "/libkernels_double_$(best_set)_/b" -e '/libkernels_/d'
}

# One test, with the programs of the build in this folder.
run_test() {
	(
		ulimit -t "$cpu_s"
		ulimit -S -v $((memory_mib * 1024))
		ulimit -c 0
		TMPDIR=$PWD/t HOME=$PWD/t CHECK_LIMIT_S=$wall_s $confine sh ./tests/run-tests -s . -b . -j 1 "$1"
	) >test.out 2>&1 </dev/null
}

# Whether a test passes without a mutant under the same limits; found out once for each test.
sound() {
	key=$work/sound/$(printf %s "$1" | tr / -)
	until mkdir "$work/sound/lock" 2>/dev/null; do sleep 1; done
	if [ ! -e "$key.yes" ] && [ ! -e "$key.no" ]; then
		if (cd "$work/0" && run_test "$1"); then
			: >"$key.yes"
		else
			: >"$key.no"
			echo "check-mutants: $1 fails without a mutant too, and is left out:" >&2
			sed -n '/^FAIL/,$p' "$work/0/test.out" | head -n 5 >&2
		fi
	fi
	rmdir "$work/sound/lock"
	[ -e "$key.yes" ]
}

# Whether a mutant passes a test. A failure counts where the test passes without the mutant, and where what may depend on
# the load of the machine, scripts and links, fails twice; but to run out of time, which may take minutes, counts at once.
passes() {
	case $1 in
	tests/cli/test_manual.sh) programs=cli/manual/manual ;;
	tests/net/*.sh) programs="qcnn tests/net/many_connections tests/net/no_reader tests/net/net_drop" ;;
	*.sh) programs="qcnn $(grep -q -e faulty -e faults "$1" && echo tests/cli/faulty)" ;;
	*) programs=$1 ;;
	esac
	# shellcheck disable=SC2086
	$make -s $programs >make.out 2>&1 || return 1
	run_test "$1" && return 0
	case $1 in *.sh | tests/net/*) again=true ;; *) again=false ;; esac
	grep -q -e 'stopped after' -e 'exit status 152' test.out && again=false
	sound "$1" || return 0
	$again && run_test "$1"
}

# Compiles the objects and tries the tests: prints the result and the test that killed the mutant, separated by a tab.
judge() {
	# shellcheck disable=SC2086
	$make -s $objects >make.out 2>&1 || { echo "not compiled$tab"; return; }
	same=true
	for o in $objects; do
		strip -g "$o"
		cmp -s "$o" "$o.saved" || same=false
	done
	! $same || { echo "same code$tab"; return; }
	for t in $(tests_of "$1"); do
		[ ! -e "$work/sound/$(printf %s "$t" | tr / -).no" ] || continue
		passes "$t" || { echo "killed$tab$t"; return; }
	done
	echo "survived$tab"
}

# One mutant in the build of this folder, which is then as it was. The source keeps its time, so that only what is
# removed here is compiled again.
try_mutant() {
	objects=$(objects_of "$1")
	[ -n "$objects" ] || { echo "not built$tab"; return; }
	cp -p "$1" source.saved
	before=$3 after=$4 awk -v line="$2" -f "$here/apply.awk" source.saved >source.mutant || { echo "gone$tab"; return; }
	cat source.mutant >"$1"
	touch -r source.saved "$1"
	for o in $objects; do mv "$o" "$o.saved"; done
	judge "$1"
	cp -p source.saved "$1"
	for o in $objects; do mv "$o.saved" "$o"; touch "$o"; done
}

# Takes mutants from the plan until none is left.
job() {
	cd "$work/$1" || exit 1
	while IFS=$tab read -r index folder file line operator before after function <&3; do
		mkdir "$work/taken/$index" 2>/dev/null || continue
		begin=$(date +%s)
		verdict=$(try_mutant "$file" "$line" "$before" "$after")
		printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$index" "$folder" "$file" "$line" "$operator" "$before" "$after" \
			"$verdict" $(($(date +%s) - begin)) "$function" >>"$log"
		echo "$index $file:$line $operator: $verdict"
	done 3<"$work/plan"
}

if [ "${1:-}" = table ]; then
	table
	exit
fi
{ [ -e lang/lang.h ] && [ -e libbase.a ]; } || fail "this needs a build in the source folder itself: ./bootstrap"
mkdir -p "$top/mutants" && touch "$log" || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/qm.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/taken" "$work/sound"
# A copy: the sources may change while this runs.
cp -R "$here" "$work/mutants" && here=$work/mutants || exit 1
confine="sh $here/confine.sh $work"
[ -z "${MUTANTS_UNCONFINED:-}" ] || confine=
$confine true || fail "cannot make the namespaces (unshare(1)) that keep mutants from this machine's files and processes; \
in a container of its own set MUTANTS_UNCONFINED=1"
if [ -z "${QCNN_SHARED:-}" ] && [ -d ../shared/reference ]; then
	QCNN_SHARED=$(cd ../shared && pwd)
	export QCNN_SHARED
fi
plan | awk -F '\t' '$3 ~ /^runtime\/exec\/statevector\/cpu\/.*_tmpl/ { last = last $0 "\n"; next } 1; END { printf "%s", last }' >"$work/plan"
if [ -s "$work/plan" ]; then
	echo "check-mutants: $(awk 'END { print NR }' "$work/plan") mutants of seed $seed, $jobs at a time; results go to $log"
	copy_build
	i=0
	while [ $((i += 1)) -le "$jobs" ]; do
		cp -a "$work/0" "$work/$i" || exit 1
		job $i &
	done
	wait
fi
table
