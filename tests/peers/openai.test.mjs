// Does the official OpenAI client work with `ferrox serve`: whole, streamed, refused, aborted?
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { startServer } from './server_process.mjs';

let server;
let client;
const question = [{ role: 'user', content: 'What is the capital of France?' }];
const greedy = { model: 'any', messages: question, max_tokens: 16, temperature: 0 };

before(async () => {
  server = await startServer();
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
after(() => server.stop());

async function health() {
  return (await fetch(`${server.url}/health`)).json();
}

async function idle() {
  for (;;) {
    const state = await health();
    if (state.running === 0 && state.queued === 0) return;
  }
}

test('models are listed and described', async () => {
  const models = [];
  for await (const model of client.models.list()) models.push(model);
  assert.equal(models.length, 1);
  assert.equal(models[0].object, 'model');
  assert.ok(models[0].context_length > 0);
  assert.equal((await client.models.retrieve(models[0].id)).id, models[0].id);
});

test('a whole chat has text, usage and a reason to end', async () => {
  const answer = await client.chat.completions.create(greedy);
  assert.equal(answer.object, 'chat.completion');
  assert.equal(answer.choices[0].message.role, 'assistant');
  assert.ok(answer.choices[0].message.content.length > 0);
  assert.ok(['stop', 'length'].includes(answer.choices[0].finish_reason));
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  assert.match(answer._request_id, /^[0-9a-f]{24}$/);
});

test('a streamed chat adds up to the whole one', async () => {
  const whole = await client.chat.completions.create(greedy);
  const stream = await client.chat.completions.create({ ...greedy, stream: true, stream_options: { include_usage: true } });
  let text = '';
  let usage;
  let reason;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    reason = chunk.choices[0]?.finish_reason ?? reason;
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, whole.choices[0].message.content);
  assert.equal(reason, whole.choices[0].finish_reason);
  assert.deepEqual({ ...usage, prompt_tokens_details: null }, { ...whole.usage, prompt_tokens_details: null });
});

test("the client's stream helper assembles a message", async () => {
  const stream = client.chat.completions.stream({ ...greedy, logprobs: true, top_logprobs: 2 });
  const final = await stream.finalChatCompletion();
  const whole = await client.chat.completions.create({ ...greedy, logprobs: true, top_logprobs: 2 });
  assert.equal(final.choices[0].message.content, whole.choices[0].message.content);
  assert.deepEqual(final.choices[0].logprobs.content, whole.choices[0].logprobs.content);
  assert.equal(whole.choices[0].logprobs.content.length, whole.usage.completion_tokens);
});

test('completions: text, tokens, many prompts, streamed', async () => {
  const ask = { model: 'any', max_tokens: 8, temperature: 0 };
  const one = await client.completions.create({ ...ask, prompt: 'One two three' });
  assert.equal(one.object, 'text_completion');
  const many = await client.completions.create({ ...ask, prompt: ['One two three', 'Once upon a time'] });
  assert.equal(many.choices[0].text, one.choices[0].text);
  assert.equal(many.choices.length, 2);
  let text = '';
  for await (const chunk of await client.completions.create({ ...ask, prompt: 'One two three', stream: true })) {
    text += chunk.choices[0].text;
  }
  assert.equal(text, one.choices[0].text);
});

test('seeds repeat', async () => {
  const ask = { ...greedy, temperature: 1.2, seed: 12 };
  const [a, b] = await Promise.all([client.chat.completions.create(ask), client.chat.completions.create(ask)]);
  assert.equal(a.choices[0].message.content, b.choices[0].message.content);
  assert.equal(a.seed, 12);
});

test('errors are of the classes and codes that the client knows', async () => {
  const bad = (more) => client.chat.completions.create({ ...greedy, ...more });
  await assert.rejects(bad({ temperature: 1000 }), (e) => e instanceof OpenAI.BadRequestError && e.param === 'temperature');
  await assert.rejects(bad({ messages: [] }), (e) => e instanceof OpenAI.BadRequestError && e.param === 'messages');
  await assert.rejects(bad({ messages: [{ role: 'user', content: 'word '.repeat(20000) }] }),
    (e) => e.status === 400 && e.code === 'context_length_exceeded');
  await assert.rejects(bad({ modalities: ['audio'] }), (e) => e.status === 501 && e.code === 'unsupported');
  await assert.rejects(client.models.retrieve('gpt-4'), OpenAI.NotFoundError);
  await assert.rejects(client.embeddings.create({ model: 'any', input: 'x', encoding_format: 'float' }), OpenAI.NotFoundError);
});

test('fields that cannot be served are refused by name', async () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }];
  const refusals = [
    [{ tools: [tool] }, 501, 'tools'],
    [{ response_format: { type: 'json_object' } }, 501, 'response_format'],
    [{ messages: image }, 501, 'messages[0].content[0].type'],
    [{ max_tokens: 10 ** 18 }, 400, 'max_tokens'],
    [{ n: 129 }, 400, 'n'],
    [{ temperature: -1 }, 400, 'temperature'],
    [{ logit_bias: { '-1': 1 } }, 400, 'logit_bias'],
    [{ top_logprobs: 5 }, 400, 'top_logprobs'],
    [{ stream: true, stream_options: { include_usage: 'yes' } }, 400, 'stream_options.include_usage'],
  ];
  for (const [fields, status, param] of refusals) {
    await assert.rejects(client.chat.completions.create({ ...greedy, ...fields }), (error) => {
      assert.equal(error.status, status, param);
      assert.equal(error.param, param);
      return true;
    });
  }
});

test('fields without effect are named in a header, nested ones too', async () => {
  const messages = [{ role: 'user', content: 'Hi', foo: 1 }];
  const fields = { ...greedy, messages, user: 'me', stream: true, stream_options: { include_obfuscation: true, bar: 1 } };
  const { data, response } = await client.chat.completions.create(fields).withResponse();
  for await (const chunk of data) assert.equal(chunk.object, 'chat.completion.chunk');
  const ignored = response.headers.get('x-ferrox-ignored').split(', ').sort();
  assert.deepEqual(ignored, ['messages[].foo', 'model', 'stream_options.bar', 'stream_options.include_obfuscation', 'user']);
});

test('a key that stands twice in an object is refused', async () => {
  const body = '{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2, "max_tokens": 3}';
  const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body });
  assert.equal(response.status, 400);
  assert.match((await response.json()).error.message, /max_tokens/);
});

test('an aborted stream frees the server', async () => {
  const stream = await client.chat.completions.create({ ...greedy, max_tokens: 3000, ignore_eos: true, stream: true });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) break;
  }
  await idle();
});

test('an aborted whole request frees the server', async () => {
  const controller = new AbortController();
  const pending = client.chat.completions.create({ ...greedy, max_tokens: 3000, ignore_eos: true }, { signal: controller.signal });
  while ((await health()).running === 0);
  controller.abort();
  await assert.rejects(pending, OpenAI.APIUserAbortError);
  await idle();
});

test('twenty clients at once', async () => {
  const whole = await client.chat.completions.create(greedy);
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.chat.completions.create(greedy)));
  for (const answer of answers) assert.equal(answer.choices[0].message.content, whole.choices[0].message.content);
});

test('a key is asked for and accepted', async () => {
  const locked = await startServer('--api-key', 'secret');
  const ask = (apiKey) => new OpenAI({ baseURL: `${locked.url}/v1`, apiKey, maxRetries: 0 }).models.list();
  await assert.rejects(ask('wrong'), OpenAI.AuthenticationError);
  assert.equal((await ask('secret')).data.length, 1);
  await locked.stop();
});
