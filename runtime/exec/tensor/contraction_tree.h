/* SPDX-License-Identifier: Apache-2.0
 * In which order the tensors of a network are contracted.
 *
 * A tree whose leaves are the network's: node k < nleaf is leaf k, and each later node is the contraction of two earlier ones; the last
 * is the whole. The search starts from greedy orders with random noise and improves parts of up to TREE_PART nodes by trying all orders
 * of these (subtree reconfiguration; both: Gray and Kourtis, arXiv:2002.01935), longer where the contraction takes long. It depends on
 * the network and the number of networks alone, not on time, and counts by operations on doubles that every machine rounds alike: every
 * machine finds the same tree. Trees are remembered while the process lives. */
#pragma once

#include "runtime/exec/tensor/network.h"

struct contraction_tree {
	uint32_t nnode;       /* 2 nleaf - 1; 0 of a network without leaves */
	uint32_t (*child)[2]; /* of node nleaf + k: child[k] */
	double multiplications,
		sample_multiplications; /* all; those above a leaf that differs between samples */
	double widest;                  /* entries of the largest tensor */
};

/* How long to search. */
struct contraction_search {
	uint32_t nnetwork; /* of the program, which share the time */
	/* What a multiplication is worth, of those that all samples share and of the others, and the sum above which a tree is of no use. */
	double shared_work, sample_work, most_work;
};

/* Lives in a. false: the first trees are so far above most_work that none below is expected, or all are far too large to be
 * contracted. */
bool contraction_tree_find(const struct network *n, const struct contraction_search *s,
	struct arena *a, struct contraction_tree *out);
