/* SPDX-License-Identifier: Apache-2.0
 * Loses what comes in by a network interface: net_drop INTERFACE PERCENT says `ready` and does so until its
 * standard input ends.  Exit status 77 where the kernel does not let it. */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __linux__ && __has_include(<linux/bpf.h>) && defined SYS_bpf
#include <linux/bpf.h>
#include <linux/if_link.h>

enum { RANDOM = 7, OF = 1024 };          /* the helper bpf_get_prandom_u32; what its number is cut to */

static int call(enum bpf_cmd what, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, what, a, sizeof *a);
}

/* Drop (XDP_DROP) where a random number is below `below`, else pass. */
static int load(int below)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = RANDOM },
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = 0, .imm = OF - 1 },
		{ .code = BPF_JMP | BPF_JLT | BPF_K, .dst_reg = 0, .off = 2, .imm = below },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = XDP_DROP },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;

	memset(&a, 0, sizeof a);
	a.prog_type = BPF_PROG_TYPE_XDP;
	a.insn_cnt = sizeof code / sizeof *code;
	a.insns = (unsigned long)code;
	a.license = (unsigned long)"GPL";
	return call(BPF_PROG_LOAD, &a);
}

/* As long as this process lives. */
static int attach(int program, unsigned interface)
{
	union bpf_attr a;

	memset(&a, 0, sizeof a);
	a.link_create.prog_fd = (unsigned)program;
	a.link_create.target_ifindex = interface;
	a.link_create.attach_type = BPF_XDP;
	a.link_create.flags = XDP_FLAGS_SKB_MODE;
	return call(BPF_LINK_CREATE, &a);
}

int main(int argc, char **argv)
{
	unsigned interface = argc == 3 ? if_nametoindex(argv[1]) : 0;
	int program = interface ? load(atoi(argv[2]) * OF / 100) : -1;
	char rest;

	if (program < 0 || attach(program, interface) < 0) {
		perror("net_drop");
		return 77;
	}
	puts("ready");
	fflush(stdout);
	return read(STDIN_FILENO, &rest, 1) < 0;
}
#else
int main(void)
{
	fputs("net_drop: not on this system\n", stderr);
	return 77;
}
#endif
