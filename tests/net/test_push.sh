#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# This program, sent to hosts that lack it: the same bits, no file left, whoever is killed; a host that has it gets nothing;
# what lacks on a host is said. The hosts of the lab do not see the program's file.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_unshare="--net --mount"
lab_namespaces 2
cp "$top_srcdir"/examples/cluster/*.* .
lab_train -o want.bin
tap_ok "hosts that have it" lab_train -o got.bin --hosts h1,h2 --push --verbose
tap_ok "the same bits" cmp want.bin got.bin
tap_ok "get nothing" sh -c '! grep -q "sent this program" err'
for k in 1 2; do lab_at $k mount --bind /dev/null "$QCNN"; done
got=0
lab_train -o got.bin --hosts h1 || got=$?
tap_is $got 69 "a host that has none"
tap_has err "(--remote-path gives the path of qcnn there, --push sends this one)" "is told what to do"

# Folders of the hosts' own: /tmp with room, and the others without.
for k in 1 2; do
	lab_at $k mount -t tmpfs -o size=64m none /var/tmp
	lab_at $k mount -t tmpfs -o size=64k none /dev/shm
done
left() { for k in 1 2; do lab_at $k find /tmp /var/tmp /dev/shm "$HOME" -maxdepth 1 -name 'qcnn.????????' 2>/dev/null; done; }
for how in auto stdio; do
	tap_ok "--push, $how" lab_train -o got.bin --hosts h1:2,h2,local --push --transport=$how || tap_note "$(tail -3 err)"
	tap_ok "the same bits" cmp want.bin got.bin
	tap_has err "sent this program to h1[0]" "a note says so"
	tap_is "$(left)" "" "no file is left"
done
tap_ok "cluster.push, not encrypted" lab_train -o got.bin --set cluster.push=true --hosts h1,h2 --encrypt=off
tap_ok "the same bits" cmp want.bin got.bin
printf '#!/bin/sh\necho "qcnn 0.0.9"\n' >old
chmod +x old
tap_ok "a host with another version" lab_train -o got.bin --hosts h1 --push --remote-path "$PWD/old"
tap_has err "sent this program to h1[0]" "gets this one"

# cover K FOLDER OPTIONS: another file system there, through which this test's folder, with the keys of sshd, stays where it is.
cover() { lab_at $1 sh -c "mount --bind '$PWD' /mnt && mount -t tmpfs -o $3 none '$2' && mkdir -p '$PWD' && { [ -e '$lab' ] || mount --bind /mnt '$PWD'; }"; }
cover 1 /tmp size=64k
cover 2 /tmp size=64m,noexec
tap_ok "/tmp has no space, or runs nothing" lab_train -o got.bin --hosts h1,h2 --push || tap_note "$(tail -3 err)"
tap_ok "the same bits" cmp want.bin got.bin

# ---- nothing is left ----
workers() { for k in 1 2; do for p in $(lab_processes $k); do [ "$(tr '\0' ' ' </proc/$p/cmdline 2>/dev/null)" = "/proc/self/fd/4 worker " ] && echo $p; done; done; }
(lab_exec 0 "$QCNN" train config.yaml --set log.dir="$PWD/runs" $lab_options --set train.epochs=1000000 --push -o got.bin --hosts h1,h2 >out 2>err) &
coordinator=$!
tap_until 'grep -q "2 workers on 2 hosts, ready after" err'
tap_ok "two workers that were sent, with a guard each" tap_until '[ $(workers | wc -w) = 4 ]' || tap_note "$(tail -3 err)"
tap_is "$(left)" "" "while they work, no file has a name"
kill -9 $coordinator
wait $coordinator 2>/dev/null
tap_until '[ -z "$(workers)" ]'
tap_is "$(workers)" "" "the coordinator is killed: no worker is left"
tap_is "$(left)" "" "and no file"

# ---- hosts that cannot ----
refused() { # STATUS TEXT...
	got=0
	lab_train -o got.bin --hosts h1 --push || got=$?
	tap_is $got $1 "$2"
	tap_has err "$3" "host, cause"
	tap_has err "$4" "and cure"
}
home=$(lab_on 0 ssh h1 'echo "$HOME"')
for f in /var/tmp "$home"; do cover 1 $f size=64k; done
refused 69 "no folder has space" "h1[0]: its ssh ended with exit status 73; its last output: push: no folder with" "(free space there, or set TMPDIR there to another folder"
for f in /var/tmp "$home"; do lab_at 1 umount -l $f; done
mkdir odd
printf '#!/bin/sh\necho ppc64\n' >odd/uname
chmod +x odd/uname
lab_at 1 mount --bind "$PWD/odd/uname" /bin/uname
lab_at 1 mount --bind "$PWD/odd/uname" /usr/bin/uname 2>/dev/null
refused 69 "another processor" "push: this host is ppc64, the program that would be sent is for $(uname -m)" "(set --remote-path to a qcnn that was built for it)"
lab_at 1 umount /usr/bin/uname 2>/dev/null
lab_at 1 umount /bin/uname 2>/dev/null
library=$(ldd "$QCNN" | awk '/libjansson/ { print $3 }')
if [ -n "$library" ]; then
	lab_at 1 mount --bind /dev/null "$(readlink -f "$library")"
	refused 69 "a library lacks" "push: the program does not run there: " "(install the missing libraries, or set --remote-path"
	tap_has err "libjansson" "which is named"
else
	tap_skip "qcnn needs no libjansson"
fi
tap_done
