// The validator of Swagger UI is a service elsewhere: it is not asked.
SwaggerUIBundle({ url: 'openapi.json', dom_id: '#document', deepLinking: true, validatorUrl: null, displayRequestDuration: true, supportedSubmitMethods: ['get'] });
