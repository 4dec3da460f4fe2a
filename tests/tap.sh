# SPDX-License-Identifier: Apache-2.0
# Test results as TAP, for the shell tests. Usage: `. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"`, points,
# `tap_done`: a test that is run by hand ends there and leaves nothing behind.
# The runner sets top_srcdir, top_builddir, QCNN (the program), QCNN_SHARED (reference numbers, may
# be empty), QCNN_SANITIZED (1 in a build with sanitizers, else unset) and starts the test in an empty folder of its own.
# With TAP_FAIL_FAST the first point that fails ends the test.

tap_count=0
tap_failures=0

tap_note() { printf '%s\n' "$*" | sed 's/^/# /'; }

# tap_result STATUS NAME: a point that passes when STATUS is 0.
tap_result() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' $tap_count "$2"
	else
		tap_failures=$((tap_failures + 1))
		printf 'not ok %d - %s\n' $tap_count "$2"
		[ -z "${TAP_FAIL_FAST:-}" ] || exit 1
		return 1
	fi
}

# tap_ok NAME COMMAND...: passes when the command succeeds; its output is shown when it does not.
tap_ok() {
	tap_name=$1
	shift
	"$@" >tap.out 2>&1
	tap_result $? "$tap_name" || { sed 's/^/# /' tap.out; return 1; }
}

# tap_exit STATUS NAME COMMAND...: passes when the command ends with STATUS; leaves files out and err.
tap_exit() {
	tap_want=$1
	tap_name=$2
	shift 2
	tap_got=0
	"$@" >out 2>err </dev/null || tap_got=$?
	[ "$tap_got" -eq "$tap_want" ]
	tap_result $? "$tap_name" || {
		tap_note "exit status $tap_got, expected $tap_want"
		sed 's/^/# /' err | head -40
		return 1
	}
}

# tap_is GOT WANT NAME: passes when the two strings are equal.
tap_is() {
	[ "$1" = "$2" ]
	tap_result $? "$3" || { tap_note "got      '$1'"; tap_note "expected '$2'"; return 1; }
}

# tap_run DIR: the folder of the run that DIR/latest has links to.
tap_run() { printf '%s\n' "$1/$(basename "$(dirname "$(readlink "$1/latest/run.json")")")"; }

# tap_same FILE WANTED NAME: passes when the two files are equal; the difference is shown.
tap_same() {
	cmp -s "$1" "$2"
	tap_result $? "$3" || { diff -u "$2" "$1" | head -40 | sed 's/^/# /'; return 1; }
}

# tap_has FILE TEXT NAME: passes when a line of the file contains the text.
tap_has() {
	grep -F -q -e "$2" "$1"
	tap_result $? "$3" || { tap_note "no '$2' in:"; head -40 "$1" | sed 's/^/# /'; return 1; }
}

# tap_until 'COMMANDS' [SECONDS]: tries them until they succeed; 1 where they have not within two minutes, or so many seconds.
tap_until() {
	tap_end=$(($(date +%s) + ${2:-120}))
	until eval "$1" 2>/dev/null; do
		[ "$(date +%s)" -le $tap_end ] || return 1
		sleep 0.02
	done
}

# tap_gone PID...: waits until none of them runs (one that waits to be reaped does not).
tap_gone() { tap_until "[ -z \"\$(tap_left $*)\" ]" || { echo "still there: $(tap_left "$@")"; return 1; }; }
tap_left() {
	for tap_pid; do
		case $(ps -o stat= -p "$tap_pid") in '' | Z*) ;; *) printf '%s ' "$tap_pid" ;; esac
	done
}

# tap_took_int PID: waits until this qcnn has noted INT; the next one ends it at once.
tap_took_int() { tap_until "grep -q '^SigCgt.*[014589cd]\$' /proc/$1/status"; }

# tap_once_of_ten CONDITION COMMAND...: runs the command until the condition holds of what it prints, to out. What is measured while
# other work interrupts it may be wrong, but not ten times.
tap_once_of_ten() {
	tap_condition=$1
	shift
	for tap_run in 1 2 3 4 5 6 7 8 9 10; do
		"$@" >out 2>err || return 1
		! "$tap_condition" || return 0
	done
	return 1
}

# tap_skip REASON: counts one point as skipped.
tap_skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d # SKIP %s\n' $tap_count "$1"
}

# tap_skip_all REASON: ends a test that can do nothing at all here.
tap_skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

tap_done() {
	printf '1..%d\n' $tap_count
	[ $tap_failures -eq 0 ] && [ $tap_count -gt 0 ]
	exit $?
}
