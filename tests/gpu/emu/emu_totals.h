/* SPDX-License-Identifier: Apache-2.0
 * What the emulated devices have done since the program began, for tests in C. */
#ifndef EMU_TOTALS_H
#define EMU_TOTALS_H

struct emu_totals {
	unsigned long launches, blocks, copies, clears,
		waits;               /* copies: those that one end of is the host's */
	unsigned long calls;         /* of functions of the host */
	unsigned long graphs, nodes; /* launches of graphs; their nodes */
	double copied;               /* bytes of copies */
	/* Where every access is checked, else 0: */
	unsigned long mads[2]; /* multiply-adds of kernels, in single and in double precision */
	double read,
		written; /* bytes of whole sectors that kernels read and wrote, sums apart; in each launch once */
};

extern struct emu_totals emu_totals;

#endif
