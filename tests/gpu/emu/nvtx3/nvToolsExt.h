/* SPDX-License-Identifier: Apache-2.0
 * The part of NVTX that this project uses: emu_runtime.cpp counts ranges by their names and payloads. */
#ifndef EMU_NVTOOLSEXT_H
#define EMU_NVTOOLSEXT_H

#include <stdint.h>

enum { NVTX_VERSION = 3, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 3 };
struct nvtxEventAttributes_t {
	uint16_t version, size;
	int32_t payloadType, messageType;
	union {
		uint32_t uiValue;
	} payload;
	union {
		const char *ascii;
	} message;
};
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

int nvtxRangePushEx(const nvtxEventAttributes_t *a);
int nvtxRangePop(void);

#endif
