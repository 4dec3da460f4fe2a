# SPDX-License-Identifier: Apache-2.0
# Warnings about models that are valid but cannot be meant so, and --strict, which treats warnings as errors.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

# ---- --strict ----

printf 'QCNN 1;\nqubit[2] q;\ninput float[2] x;\nparam float[3] t;\nrx(each x) on q;\nrx(t[0]) q[0];\nrx(t[1]) q[1];\nobserve z(q);\n' >unused.qcnn
sed 's/float\[3\]/float[2]/' unused.qcnn >clean.qcnn

tap_exit 0 "check: a warning alone is no error" "$QCNN" check unused.qcnn
tap_has err 'warning[Q0401]' "it is printed"
tap_exit 65 "check --strict: it is one" "$QCNN" check --strict unused.qcnn
tap_has err 'warning[Q0401]' "the warning is printed"
tap_has err 'error: 1 warning is treated as error (--strict)' "and why the command fails"
tap_is "$(cat out)" "" "there is no result"
tap_exit 65 "also with -q" "$QCNN" check -q --strict unused.qcnn
tap_has err 'warning[Q0401]' "where the warning is printed too"
tap_exit 65 "as JSON" "$QCNN" check --strict --error-format=json unused.qcnn
tap_has err '"severity": "error", "code": 65, "message": "1 warning is treated' "an object a message"
tap_exit 0 "check --strict: a model without warnings" "$QCNN" check --strict clean.qcnn
tap_exit 65 "run --strict" "$QCNN" run --strict --data=new.csv unused.qcnn
tap_exit 0 "run --strict: a model without warnings" "$QCNN" run --strict --data=new.csv clean.qcnn
tap_exit 65 "compile --strict" "$QCNN" compile --strict -o unused.asm unused.qcnn
tap_ok "writes nothing" test ! -e unused.asm
tap_exit 65 "train --strict" "$QCNN" train --strict --set model.file=unused.qcnn table.yaml
tap_ok "makes no folder" test ! -e runs
tap_exit 65 "check --strict of a configuration" "$QCNN" check --strict --set model.file=unused.qcnn table.yaml
tap_exit 2 "draw has no such option" "$QCNN" draw --strict clean.qcnn

tap_done
