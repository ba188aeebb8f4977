/* The worker that lets go of links: whoever closes the last descriptor of one waits for every process that maps its
 * file. */
#ifndef EDEN_DETACHER_H
#define EDEN_DETACHER_H

/* Enters the sandbox. Closes what it is sent and says so, one packet after the other, until the tool closes the socket.
 */
void detacher_serve(int socket);

#endif
