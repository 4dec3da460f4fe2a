/* SPDX-License-Identifier: Apache-2.0
 * The only file that knows MPI: compiled once with each MPI that configure has found, into qcnn-mpi-NAME.so. */
#include "runtime/net/comm/mpi_module.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/net/comm/mpi_build.h"

struct mpi_requests {
	MPI_Request *request; /* (nslot) */
	MPI_Status *status;   /* (nslot) of those that a test finds */
	int *index;           /* (nslot) */
};

static int failed(int code, char text[MPI_TEXT_MAX])
{
	char said[MPI_MAX_ERROR_STRING] = "";
	int n = 0;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_string(code, said, &n);
	snprintf(text, MPI_TEXT_MAX, "%.*s", MPI_TEXT_MAX - 1, said);
	return code;
}

/* Messages are sent by the thread that computes and by one beside it, in turn. */
static int start(unsigned *rank, unsigned *size, char text[MPI_TEXT_MAX])
{
	int level = MPI_THREAD_SINGLE, r = 0, n = 0, code;

	code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
	if (code)
		return failed(code, text);
	if (level < MPI_THREAD_SERIALIZED) {
		snprintf(text, MPI_TEXT_MAX, "this MPI cannot be called by several threads");
		return -1;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	*rank = (unsigned)r;
	*size = (unsigned)n;
	return 0;
}

static void end(void) { MPI_Finalize(); }

static void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

static void close_requests(struct mpi_requests *r)
{
	free(r->request);
	free(r->status);
	free(r->index);
	free(r);
}

static struct mpi_requests *open_requests(unsigned nslot)
{
	struct mpi_requests *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->request = calloc(nslot, sizeof *r->request);
	r->status = calloc(nslot, sizeof *r->status);
	r->index = calloc(nslot, sizeof *r->index);
	if (!r->request || !r->status || !r->index) {
		close_requests(r);
		return NULL;
	}
	for (unsigned k = 0; k < nslot; k++)
		r->request[k] = MPI_REQUEST_NULL;
	return r;
}

static int send_bytes(struct mpi_requests *r, unsigned slot, unsigned to, int tag, const void *p,
	size_t nbyte, char text[MPI_TEXT_MAX])
{
	return failed(MPI_Isend(p, (int)nbyte, MPI_BYTE, (int)to, tag, MPI_COMM_WORLD,
			      &r->request[slot]),
		text);
}

static int receive(struct mpi_requests *r, unsigned slot, unsigned from, int tag, void *p,
	size_t nbyte, char text[MPI_TEXT_MAX])
{
	return failed(MPI_Irecv(p, (int)nbyte, MPI_BYTE, (int)from, tag, MPI_COMM_WORLD,
			      &r->request[slot]),
		text);
}

static void cancel(struct mpi_requests *r, unsigned slot)
{
	if (r->request[slot] != MPI_REQUEST_NULL)
		MPI_Cancel(&r->request[slot]);
}

/* Open MPI looks at the requests, and then moves messages if it has found none that has ended: the second look finds them. */
static unsigned test(struct mpi_requests *r, unsigned first, unsigned n, struct mpi_ended *ended)
{
	int count = 0, nbyte, code = MPI_SUCCESS, kind;

	for (int look = 0; look < 2 && !count; look++)
		code = MPI_Testsome((int)n, r->request + first, &count, r->index, r->status);
	MPI_Error_class(code, &kind);
	if (count == MPI_UNDEFINED || (kind != MPI_SUCCESS && kind != MPI_ERR_IN_STATUS))
		return 0;
	for (int k = 0; k < count; k++) {
		nbyte = 0;
		MPI_Get_count(&r->status[k], MPI_BYTE, &nbyte);
		ended[k] = (struct mpi_ended){ .slot = first + (unsigned)r->index[k],
			.nbyte = nbyte > 0 ? (size_t)nbyte : 0,
			.failed = code ? r->status[k].MPI_ERROR : 0 };
	}
	return (unsigned)count;
}

/* Looked for in the file, before it is loaded. */
const char qcnn_mpi_build[] = MPI_BUILD;

const struct mpi_module qcnn_mpi_module = {
	.start = start,
	.end = end,
	.abort = abort_all,
	.open = open_requests,
	.close = close_requests,
	.send = send_bytes,
	.receive = receive,
	.cancel = cancel,
	.test = test,
};
