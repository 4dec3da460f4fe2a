#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How people have set up their accounts: a .bashrc and a .cshrc that talk, csh as login shell, German and Turkish, folders
# that nobody may write to; with qcnn elsewhere, and of another version. It works, or one message says what to do.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_unshare="--net --mount"
lab_namespaces 2
cp "$top_srcdir"/examples/cluster/*.* .
refused() { # STATUS NAME HOST... TEXT: each host is named with the text
	got=0
	lab_train -o got.bin --hosts "$3" $5 || got=$?
	tap_is $got $1 "$2"
	tap_ok "$2: host, cause and cure" grep -q "error: $3\[0\]: $4" err || tap_note "$(tail -2 err)"
}

# ---- accounts ----
csh=$(command -v tcsh || command -v csh) || csh=
user=$(id -un)
# account K SHELL: the user's shell and home there.
account() {
	mkdir "home.$1"
	awk -F: -v OFS=: -v user="$user" -v home="$PWD/home.$1" -v shell="$2" '$1 == user { $6 = home; $7 = shell } { print }' /etc/passwd >"passwd.$1"
	lab_at $1 mount --bind "$PWD/passwd.$1" /etc/passwd
}
account 1 /bin/bash && account 2 "${csh:-/bin/sh}" || tap_skip_all "no account can be changed"
cat >home.1/.bashrc <<'END'
echo "Willkommen auf diesem Rechner"
echo "and an error" >&2
printf 'no end of line'
alias exec=echo sh=echo
END
cat >home.2/.cshrc <<'END'
echo "Welcome to this host"
alias sh echo
set noclobber
END
# A second sshd on each, which lets bash read .bashrc and speaks another language.
mkdir locale
for l in de_DE tr_TR; do localedef -i $l -f UTF-8 "locale/$l.UTF-8" 2>/dev/null; done
for k in 1 2; do
	sed -e '/SHLVL/d' -e 's/^Port .*/Port 2022/' "$lab/sshd_config.$k" >"$lab/sshd_config.own.$k"
	printf 'SetEnv LC_ALL=%s.UTF-8 LOCPATH=%s\n' $([ $k = 1 ] && echo de_DE || echo tr_TR) "$PWD/locale" >>"$lab/sshd_config.own.$k"
	(lab_k=$k; exec nsenter --net="/proc/$(cat "$lab/host.$k.pid")/ns/net" --mount="/proc/$(cat "$lab/host.$k.pid")/ns/mnt" \
		"$lab_sshd" -D -e -f "$lab/sshd_config.own.$k" >"$lab/own.$k" 2>&1 9>&-) &
	tap_until "grep -q 'Server listening' '$lab/own.$k'"
done
sed 's/Port 22$/Port 2022/' "$lab/ssh_config" >"$lab/ssh_config.own" && mv "$lab/ssh_config.own" "$lab/ssh_config"

tap_has "$lab/ssh_config" "Port 2022" "the other sshd is asked"
tap_is "$(lab_on 0 ssh h1 'echo $0 $LC_ALL' </dev/null 2>/dev/null | tail -1)" "no end of linebash de_DE.UTF-8" "bash reads its .bashrc"
if [ -n "$csh" ]; then
	tap_is "$(lab_on 0 ssh h2 'echo $shell $LC_ALL' </dev/null 2>/dev/null | tail -1)" "$csh tr_TR.UTF-8" "the other shell is csh"
else
	tap_skip "csh is not installed"
fi
if [ -d locale/tr_TR.UTF-8 ]; then
	tap_is "$(lab_on 0 ssh h2 'locale charmap' </dev/null 2>&1 | tail -1)" UTF-8 "the locale is there"
else
	tap_skip "localedef is not installed"
fi
lab_train -o want.bin
for how in auto stdio; do
	tap_ok "both accounts, $how" lab_train -o got.bin --hosts h1,h2 --transport=$how || tap_note "$(tail -3 err)"
	tap_ok "the same bits" cmp want.bin got.bin
	tap_has err "h1[0]: Willkommen auf diesem Rechner" "what .bashrc says is shown"
	[ -z "$csh" ] || tap_has err "h2[1]: Welcome to this host" "what .cshrc says is shown"
done

# ---- another version, no qcnn ----
version=$("$QCNN" --version | cut -d' ' -f2)
# Compilers put the first four letters of a short text into one number.
first=$(printf %.4s "$version")
LC_ALL=C sed "s/$(echo "$first" | sed 's/\./\\./g')/$(echo "$first" | tr 0-9 7)/g" "$QCNN" >other
chmod +x other
other=$("$PWD/other" --version | cut -d' ' -f2)
tap_ok "a program of another version, $other" [ "$version" != "$other" ]
for k in 1 2; do
	tap_ok "another version on h$k takes part" lab_train -o got.bin --hosts h$k --remote-path "$PWD/other" || tap_note "$(tail -3 err)"
	tap_has err "h$k[0] is qcnn $other, and this is qcnn $version; both have numerical version" "a note names both"
	tap_ok "the same bits" cmp want.bin got.bin
	refused 69 "no qcnn on h$k" h$k "its ssh ended with exit status [0-9]*; its last output: .* (--remote-path gives the path of qcnn there, --push sends this one)" "--remote-path /nowhere/qcnn"
done
for k in 1 2; do lab_at $k mount --bind /dev/null "$QCNN"; done
tap_ok "--push" lab_train -o got.bin --hosts h1,h2 --push || tap_note "$(tail -3 err)"
tap_ok "the same bits" cmp want.bin got.bin
refused 69 "no qcnn in PATH" h1 "its ssh ended with exit status 127; its last output: .* (--remote-path gives the path of qcnn there, --push sends this one)"
refused 69 "no qcnn in PATH of csh" h2 "its ssh ended with exit status 127; its last output: .* (--remote-path gives the path of qcnn there, --push sends this one)"

# ---- folders ----
# Nobody may write: home, /tmp and others are read-only; a worker writes nothing.
for k in 1 2; do
	lab_at $k umount "$QCNN"
	lab_at $k sh -c "for f in /tmp /var/tmp /dev/shm '$PWD'; do mount --bind \$f \$f && mount -o remount,ro,bind \$f; done"
done
tap_ok "folders that nobody may write to" lab_train -o got.bin --hosts h1,h2 || tap_note "$(tail -3 err)"
tap_ok "the same bits" cmp want.bin got.bin
lab_at 1 mount --bind /dev/null "$QCNN"
refused 69 "a program for which there is no folder" h1 "its ssh ended with exit status 73; its last output: push: no folder .*(free space there, or set TMPDIR there to another folder" --push
tap_done
