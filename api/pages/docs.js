// Removes the `examples` of all parameters from the OpenAPI document. When a user tries an operation, Swagger UI then fills in only the `example` values.
// Parameters with `examples` may exclude each other.
function offerOnly(response) {
  if (!/\/openapi\.json$/.test(response.url)) return response;
  const document = JSON.parse(response.text);
  for (const { get } of Object.values(document.paths)) for (const parameter of get.parameters) delete parameter.examples;
  return { ...response, text: JSON.stringify(document) };
}

// Starts Swagger UI without its validator, which is an external service.
SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#document', deepLinking: true, validatorUrl: null, displayRequestDuration: true, supportedSubmitMethods: ['get'], responseInterceptor: offerOnly,
});
