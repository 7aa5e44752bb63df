// Does the official Anthropic client work with `ferrox serve`: whole, streamed, stopped, counted, refused, aborted?
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { startServer } from './server_process.mjs';

let server;
let client;
const messages = [{ role: 'user', content: 'What is the capital of France?' }];
const greedy = { model: 'any', messages, max_tokens: 16, temperature: 0 };

before(async () => {
  server = await startServer();
  client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
});
after(() => server.stop());

async function idle() {
  for (;;) {
    const state = await (await fetch(`${server.url}/health`)).json();
    if (state.running === 0 && state.queued === 0) return;
  }
}

test('a whole message has text, usage and a reason to stop', async () => {
  const message = await client.messages.create(greedy);
  assert.equal(message.type, 'message');
  assert.deepEqual(message.content, [{ type: 'text', text: 'The capital of France is Paris.' }]);
  assert.equal(message.stop_reason, 'end_turn');
  assert.equal(message.stop_sequence, null);
  assert.ok(message.usage.output_tokens > 0);
  assert.equal(message.id, `msg_${message._request_id}`);
});

test('a stream has the official order', async () => {
  const names = [];
  for await (const event of await client.messages.create({ ...greedy, stream: true })) {
    if (names.at(-1) !== event.type) names.push(event.type);
  }
  assert.deepEqual(names, ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop',
    'message_delta', 'message_stop']);
});

test("the client's stream helper assembles the whole message", async () => {
  const system = [{ type: 'text', text: 'You know countries.', cache_control: { type: 'ephemeral' } }];
  const whole = await client.messages.create({ ...greedy, system });
  const stream = client.messages.stream({ ...greedy, system });
  let text = '';
  stream.on('text', (delta) => { text += delta; });
  const final = await stream.finalMessage();
  assert.deepEqual(final.content, whole.content);
  assert.equal(text, whole.content[0].text);
  assert.equal(final.stop_reason, whole.stop_reason);
  assert.equal(final.usage.output_tokens, whole.usage.output_tokens);
  const prompt = (usage) => usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  assert.equal(prompt(final.usage), prompt(whole.usage));
  assert.ok(final.usage.cache_read_input_tokens > 0);
});

test('a stop sequence is named and not shown', async () => {
  const asked = { ...greedy, stop_sequences: ['tal of Fra'] };
  const whole = await client.messages.create(asked);
  const streamed = await client.messages.stream(asked).finalMessage();
  for (const message of [whole, streamed]) {
    assert.equal(message.stop_reason, 'stop_sequence');
    assert.equal(message.stop_sequence, 'tal of Fra');
    assert.equal(message.content[0].text, 'The capi');
  }
});

test('tokens are counted as they are used', async () => {
  const { usage } = await client.messages.create(greedy);
  const counted = await client.messages.countTokens({ model: 'any', messages });
  assert.equal(counted.input_tokens, usage.input_tokens + usage.cache_read_input_tokens);
});

test('errors are of the classes that the client knows', async () => {
  const bad = (more) => client.messages.create({ ...greedy, ...more });
  await assert.rejects(bad({ temperature: 2 }), (error) => {
    assert.ok(error instanceof Anthropic.BadRequestError);
    assert.equal(error.error.error.type, 'invalid_request_error');
    assert.match(error.error.error.message, /temperature: expected a number from 0 to 1, found 2/);
    assert.equal(error.error.request_id, error.requestID);
    return true;
  });
  await assert.rejects(bad({ stream: true, messages: [{ role: 'user', content: 'word '.repeat(20000) }] }),
    (error) => error instanceof Anthropic.BadRequestError && /prompt is too long/.test(error.message));
  await assert.rejects(client.messages.batches.list(), Anthropic.NotFoundError);
});

test('what is not served is refused by name, and not tried again', async () => {
  const retrying = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 2 });
  const tools = [{ name: 'f', input_schema: { type: 'object' } }];
  const start = Date.now();
  await assert.rejects(retrying.messages.create({ ...greedy, tools }), (e) => e.status === 501 && /tools/.test(e.message));
  assert.ok(Date.now() - start < 400, 'a first retry waits half a second');
});

test('an aborted stream frees the server', async () => {
  // Most of the prompt is still to be computed: an answer that is already whole couldn't be aborted.
  const stream = client.messages.stream({ ...greedy, system: 'The river is long. '.repeat(600) });
  stream.on('streamEvent', (event) => {
    if (event.type === 'message_start') stream.abort();
  });
  await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  await idle();
});

test('a key is asked for and accepted as x-api-key', async () => {
  const locked = await startServer('--api-key', 'secret');
  const ask = (apiKey) => new Anthropic({ baseURL: locked.url, apiKey, maxRetries: 0 }).messages.create(greedy);
  await assert.rejects(ask('wrong'), Anthropic.AuthenticationError);
  assert.equal((await ask('secret')).role, 'assistant');
  await locked.stop();
});
