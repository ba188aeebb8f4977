/* The detacher: a worker that closes links.
 *
 * 1. Purpose
 * Detaching may hang for ever. Here it hangs in a process that nobody needs.
 *
 * 2. Algorithm
 * The tool holds each link's descriptor while it is attached, sends it here, and then closes its own. So the last
 * reference ends in this process, at the latest when it ends.
 *
 * 3. Invariants
 * I1. It is forked before anything is attached: while another process hangs in attaching, none can be forked.
 * I2. It has no rights: closing needs none.
 *
 * 4. Failure
 * The tool waits for it, before a deadline. It reports no errors: there are none. */
#include "attach/inspect/packet.h"
#include "attach/inspect/zygote.h"
#include "util/sandbox.h"
#include <sys/prctl.h>

void detacher_serve(int socket) {
    struct packet packet;
    struct failure why;
    prctl(PR_SET_NAME, "edenscope-close");
    if (!sandbox_enter(&(struct sandbox){.profile = SANDBOX_PARSER, .writes_nothing = true}, &why)) { /* I2 */
        return;
    }
    while (packet_receive(socket, &packet, PACKET_DESCRIPTORS, UINT64_MAX)) {
        const struct packet answer = {.kind = packet.kind};
        packet_clear(&packet);
        if (!packet_send(socket, &answer, UINT64_MAX)) {
            return;
        }
    }
}
