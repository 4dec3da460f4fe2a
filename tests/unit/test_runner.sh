# SPDX-License-Identifier: Apache-2.0
# The test runner itself: it must see every way in which a test can fail, and name every skip.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

mkdir -p tests/t
cat >tests/t/good.sh <<'END'
echo "ok 1 - a"; echo "ok 2 # SKIP no moon"; echo 1..2
END
cat >tests/t/bad.sh <<'END'
echo "ok 1 - a"; echo "not ok 2 - b"; echo "# got 1"; echo 1..2; exit 1
END
echo 'echo "ok 1 - a"' >tests/t/noplan.sh
echo 'echo "ok 1 - a"; echo 1..2' >tests/t/short.sh
echo 'echo "ok 1 - a"; echo 1..1; exit 3' >tests/t/status.sh
echo 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$' >tests/t/crash.sh
echo 'echo "ok 1 - a"; sleep 20; echo 1..1' >tests/t/slow.sh
echo 'echo "1..0 # SKIP no GPU"' >tests/t/none.sh
echo 'exit 77' >tests/t/old.sh
echo '[ -z "$(ls -A)" ] && echo "ok 1 - empty" && echo x >x && echo 1..1' >tests/t/alone1.sh
cp tests/t/alone1.sh tests/t/alone2.sh

# runs WANTED-LAST-LINE WANTED-STATUS NAME TEST...
runs() {
	want=$1 want_status=$2 name=$3
	shift 3
	status=0
	QCNN_SHARED=/nonexistent sh "$top_srcdir/tests/run-tests" -s . -b . "$@" >run.out 2>&1 || status=$?
	tap_is "$(tail -n 1 run.out), status $status" "$want, status $want_status" "$name" || tap_note "$(cat run.out)"
}

runs "1 passed, 0 failed, 1 skipped" 0 "points and skips are counted" tests/t/good.sh
tap_has run.out "SKIP tests/t/good.sh: no moon" "a skip is shown with its reason"
runs "1 passed, 1 failed, 0 skipped" 1 "a failing point" tests/t/bad.sh
tap_has run.out "# got 1" "a failing point is shown with its remarks"
runs "1 passed, 1 failed, 0 skipped" 1 "a test without a plan" tests/t/noplan.sh
runs "1 passed, 1 failed, 0 skipped" 1 "fewer points than planned" tests/t/short.sh
runs "1 passed, 1 failed, 0 skipped" 1 "a bad exit status" tests/t/status.sh
runs "1 passed, 1 failed, 0 skipped" 1 "a crash" tests/t/crash.sh
tap_has run.out "ended by signal 11, after: ok 1 - a" "a crash is shown with the point before it"
runs "1 passed, 1 failed, 0 skipped" 1 "a test that takes too long" -t 1 tests/t/slow.sh
runs "0 passed, 1 failed, 0 skipped" 1 "a test that does not exist" tests/t/absent.sh
tap_has run.out "FAIL tests/t/absent.sh: there is no such test" "which the message says"
runs "1 passed, 2 failed, 1 skipped" 1 "a program that does not exist, or is none" tests/t/good tests/t/good.c tests/t/good.sh
tap_has run.out "FAIL tests/t/good: it is not built: make all tests/t/good" "the message says how it is made"

mkdir hand
for shell in sh bash; do
	(cd hand && env -u top_srcdir $shell "$top_srcdir/tests/unit/test_arrows.sh" >../hand.out 2>&1) && status=0 || status=1
	tap_is "$status $(ls -A hand) $(grep -c 'run this test through tests/run-tests' hand.out)" "1  1" "run by hand with $shell, a test says how and leaves nothing"
done
runs "0 passed, 0 failed, 2 skipped" 0 "tests that skip as a whole" tests/t/none.sh tests/t/old.sh
runs "2 passed, 0 failed, 0 skipped" 0 "each test has an empty folder" -j 2 tests/t/alone1.sh tests/t/alone2.sh
tap_done
