/* The worker without rights: parses what strangers made, from descriptors that it is handed. */
#ifndef EDEN_INSPECTOR_H
#define EDEN_INSPECTOR_H

/* Enters the sandbox and answers requests (protocol.h) until the tool closes the socket. */
void inspector_serve(int socket);

#endif
