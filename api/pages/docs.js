// Examples of a parameter are filled in when an operation is tried, also those that do not go together: only `example` is meant for that.
function offerOnly(response) {
  if (!/\/openapi\.json$/.test(response.url)) return response;
  const document = JSON.parse(response.text);
  for (const { get } of Object.values(document.paths)) for (const parameter of get.parameters) delete parameter.examples;
  return { ...response, text: JSON.stringify(document) };
}

// The validator of Swagger UI is a service elsewhere: it is not asked.
SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#document', deepLinking: true, validatorUrl: null, displayRequestDuration: true, supportedSubmitMethods: ['get'], responseInterceptor: offerOnly,
});
