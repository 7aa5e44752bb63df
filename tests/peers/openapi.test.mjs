// Is /openapi.json a valid document of OpenAPI 3.1, and does it admit what the server admits?
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv from 'ajv/dist/2020.js';
import { startServer } from './server_process.mjs';

let server;
let document;

before(async () => {
  server = await startServer();
  document = await (await fetch(`${server.url}/openapi.json`)).json();
});
after(() => server.stop());

test('the document is valid', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  assert.ok(result.valid, JSON.stringify(result.errors, null, 2));
  assert.equal(validator.version, '3.1');
  assert.ok(validator.resolveRefs().paths['/v1/completions'].post);
});

/// Compiles the schema of a path's body, with all that it refers to.
function bodyCheck(path) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  const schema = structuredClone(document.paths[path].post.requestBody.content['application/json'].schema);
  return ajv.compile({ ...schema, components: structuredClone(document.components) });
}

test('every schema compiles', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    if (methods.post?.requestBody) assert.ok(bodyCheck(path), path);
  }
});

const messages = [{ role: 'user', content: 'Hi' }];
const verdicts = [
  ['/v1/completions', { prompt: 'x', max_tokens: 1 }, true],
  ['/v1/completions', { prompt: ['x', [5, 6]], max_tokens: 1, best_of: 2, logprobs: false }, true],
  ['/v1/completions', { prompt: 'x', max_tokens: -1, stop: ['a'], temperature: 101 }, false],
  ['/v1/completions', { prompt: 'x', max_tokens: 0 }, false],
  ['/v1/completions', { max_tokens: 1 }, false],
  ['/v1/completions', { prompt: [], max_tokens: 1 }, false],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, stop: '', seed: -1 }, true],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, stop: [''] }, false],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, logit_bias: { 5: false, word: 1.5 } }, true],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, logit_bias: [[5, -1], ['word', false]] }, true],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, logit_bias: [[5]] }, false],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, samplers: ['top_k', 'temperature'] }, true],
  ['/v1/completions', { prompt: 'x', max_tokens: 1, samplers: ['top_q'] }, false],
  ['/v1/chat/completions', { messages, max_tokens: 1, stream_options: { include_usage: true } }, true],
  ['/v1/chat/completions', { messages, max_tokens: 1, stream_options: { include_usage: 1 } }, false],
  ['/v1/chat/completions', { messages, max_tokens: 1, response_format: { type: 'text' } }, true],
  ['/v1/chat/completions', { messages, max_tokens: 1, response_format: { type: 'json_object' } }, false],
  ['/v1/chat/completions', { messages: [{ role: 'wizard', content: 'Hi' }], max_tokens: 1 }, false],
  ['/v1/chat/completions', { messages: [], max_tokens: 1 }, false],
  ['/v1/chat/completions', { messages, max_tokens: 1, foo: { bar: [1] } }, true],
  ['/v1/messages', { messages, max_tokens: 1, system: [{ type: 'text', text: 'x' }] }, true],
  ['/v1/messages', { messages }, false],
  ['/v1/messages', { messages, max_tokens: 1, temperature: 1.5 }, false],
  ['/v1/messages/count_tokens', { messages }, true],
  ['/v1/admission', { messages }, true],
  ['/v1/admission', { prompt: 'x' }, true],
  ['/v1/admission', {}, false],
  ['/v1/cancel', { id: 7 }, false],
  ['/v1/sessions/restore', { id: '' }, false],
];

test('its schemas admit a body where the server does', async () => {
  for (const [path, body, admitted] of verdicts) {
    const said = JSON.stringify(body);
    const response = await fetch(`${server.url}${path}`, { method: 'POST', body: said });
    assert.equal(response.ok, admitted, `${path} ${said}: the server said ${response.status} ${await response.text()}`);
    assert.equal(bodyCheck(path)(JSON.parse(said)), admitted, `${path} ${said}: the schema said otherwise`);
  }
});

test('with keys it asks for one, as other paths do', async () => {
  const locked = await startServer('--api-key', 'secret');
  assert.equal((await fetch(`${locked.url}/openapi.json`)).status, 401);
  const headers = { 'x-api-key': 'secret' };
  assert.deepEqual(await (await fetch(`${locked.url}/openapi.json`, { headers })).json(), document);
  await locked.stop();
});
