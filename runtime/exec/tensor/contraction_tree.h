/* SPDX-License-Identifier: Apache-2.0
 * In which order the tensors of a network are contracted.
 *
 * A tree whose leaves are the network's: node k < nleaf is leaf k, and each later node is the contraction of two earlier ones; the last
 * is the whole. The search starts from greedy orders with random noise and improves parts of up to TREE_PART nodes by trying all orders
 * of these (subtree reconfiguration; both: Gray and Kourtis, arXiv:2002.01935), longer where the contraction takes long. It depends on the network alone, not on time, and counts by multiplications and divisions of doubles only, so
 * that every machine finds the same tree. Trees are remembered while the process lives. */
#pragma once

#include "runtime/exec/tensor/network.h"

struct contraction_tree {
	uint32_t nnode;       /* 2 nleaf - 1; 0 of a network without leaves */
	uint32_t (*child)[2]; /* of node nleaf + k: child[k] */
	double multiplications;
	double widest;  /* entries of the largest tensor */
	double entries; /* of all tensors */
};

/* Lives in a. */
void contraction_tree_find(const struct network *n, struct arena *a, struct contraction_tree *out);
