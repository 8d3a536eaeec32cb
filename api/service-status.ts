/** Describes the state of the service as a problem object (RFC 9457), for `/status` and the OpenAPI document. */

/** Returns the state of the service as a problem object. @param status 200 or 503 */
export function statusOf(status: number): Record<string, unknown> {
  return status === 200
    ? { type: 'urn:mappale:status:ok', title: 'OK', status, detail: 'the service works' }
    : { type: 'urn:mappale:error:SERVICE_UNAVAILABLE', title: 'Service Unavailable', status, detail: 'the database is not available' };
}
