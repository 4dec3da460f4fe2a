/* SPDX-License-Identifier: Apache-2.0
 * What qcnn-mpi-NAME.so does with one MPI library (mpi_module.c), for transport_mpi.c, which knows no MPI. qcnn itself is linked with
 * none: the module is loaded, if it is of the same build, when its transport is asked for.
 *
 * No function but start and end blocks. They are called by one thread; the others by any, one at a time. A function that fails returns
 * the number that MPI gave, and a text. */
#pragma once

#include <stddef.h>

#define MPI_MODULE_SYMBOL "qcnn_mpi_module"
enum { MPI_TEXT_MAX = 256 }; /* bytes of a text, its NUL included */

struct mpi_requests;

/* A request that has ended. */
struct mpi_ended {
	unsigned slot;
	size_t nbyte; /* received */
	int failed;   /* 0, or the number that MPI gave */
};

struct mpi_module {
	/* This process' number among all that the launcher has started, and how many they are. */
	int (*start)(unsigned *rank, unsigned *size, char text[MPI_TEXT_MAX]);
	/* Returns when all of them have called it. */
	void (*end)(void);
	/* Ends all of them; the launcher has this status. Does not return. */
	void (*abort)(int status);
	/* Slots for requests; NULL: no memory. A slot has one request at a time. Those that have not ended when it is closed are MPI's:
	 * their memory has to stay. */
	struct mpi_requests *(*open)(unsigned nslot);
	void (*close)(struct mpi_requests *r);
	/* p[nbyte] stays as it is until the request has ended. */
	int (*send)(struct mpi_requests *r, unsigned slot, unsigned to, int tag, const void *p,
		size_t nbyte, char text[MPI_TEXT_MAX]);
	/* At most nbyte. */
	int (*receive)(struct mpi_requests *r, unsigned slot, unsigned from, int tag, void *p,
		size_t nbyte, char text[MPI_TEXT_MAX]);
	/* Gives up a receive; it ends. */
	void (*cancel)(struct mpi_requests *r, unsigned slot);
	/* Which of the requests first .. first+n-1 have ended: how many, at most n, in ended[n]. */
	unsigned (*test)(struct mpi_requests *r, unsigned first, unsigned n, struct mpi_ended *ended);
};
