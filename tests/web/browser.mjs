// A browser that does what tests/harness/browser.py asks: a JSON object on each line of the input,
// {"do": NAME, ...}; the answer is one as well, {"value": ...} or {"error": TEXT}.
//
// The tests wait for what they expect to see. Nothing here sleeps.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const find = createRequire(`${process.env.RINGFENCE_TEST_WEB}/`);
const {chromium} = find('playwright-core');
const axe = readFileSync(find.resolve('axe-core/axe.min.js'), 'utf8');

const LIMIT_MS = 5000; // of one attempt; who asks decides how often
const FLAGS = [
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--disable-dev-shm-usage',
];

let browser, context, page;
const requests = []; // of all pages, as addresses
const faults = []; // what a page complained of

function watch(of) {
	of.on('pageerror', (error) => faults.push(String(error.stack || error)));
	of.on('dialog', (dialog) => {
		faults.push(`a dialog of the browser: ${dialog.message()}`);
		dialog.dismiss();
	});
	of.on('console', (message) => {
		if (message.type() === 'error')
			faults.push(`${message.text()} (${message.location().url})`);
	});
}

const doing = {
	/** Opens a window of this size, with nothing in it; the cookies of the last one are forgotten. */
	async open({width, height, dark, reduced}) {
		browser =
			browser ||
			(await chromium.launch({
				executablePath: '/usr/bin/chromium',
				chromiumSandbox: process.getuid() !== 0,
				args: FLAGS,
			}));
		if (context) await context.close();
		context = await browser.newContext({
			viewport: {width, height},
			colorScheme: dark ? 'dark' : 'light',
			reducedMotion: reduced ? 'reduce' : 'no-preference',
		});
		context.setDefaultTimeout(LIMIT_MS);
		context.setDefaultNavigationTimeout(0);
		context.on('request', (request) => requests.push(request.url()));
		page = await context.newPage();
		watch(page);
	},
	goto: ({url}) =>
		page.goto(url, {waitUntil: 'commit'}).then((response) => response && response.status()),
	/** Loads it in another window of the same session, with nothing in the cache. */
	async again({url}) {
		await page.close();
		page = await context.newPage();
		watch(page);
		await (
			await context.newCDPSession(page)
		).send('Network.setCacheDisabled', {cacheDisabled: true});
		await page.goto(url, {waitUntil: 'commit'});
	},
	reload: () => page.reload({waitUntil: 'commit'}).then(() => null),
	/** Waits until an element is there and can be seen, or (gone) no longer. */
	see: ({selector, text, gone}) =>
		located(selector, text).waitFor({state: gone ? 'hidden' : 'visible'}),
	text: ({selector}) => page.locator(selector).first().innerText(),
	count: ({selector}) => page.locator(selector).count(),
	click: ({selector, text}) => located(selector, text).click(),
	fill: ({selector, text}) => page.locator(selector).first().fill(text),
	press: ({keys}) =>
		keys.reduce(
			(before, key) => before.then(() => page.keyboard.press(key)),
			Promise.resolve(),
		),
	/** Runs a function of the page. */
	run: ({script, argument}) => page.evaluate(`(${script})(${JSON.stringify(argument)})`),
	/** Waits until a function of the page returns something that is true, and looks at each frame. The policy of the
	 * page forbids waitForFunction(), which evaluates text. */
	async until({script, argument}) {
		const limit = Date.now() + LIMIT_MS;

		while (!(await doing.run({script, argument}))) {
			if (Date.now() > limit) throw new Error('Timeout: it did not happen');
			await page.evaluate('new Promise(requestAnimationFrame)');
		}
	},
	/** Returns the breaches of accessibility rules, as lines. */
	async axe() {
		await page.evaluate(axe);
		const {violations} = await page.evaluate(
			'axe.run(document, {resultTypes: ["violations"]})',
		);

		return violations.flatMap(({id, nodes}) =>
			nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`),
		);
	},
	forget: () => context.clearCookies(),
	requests: () => requests,
	faults: () => faults.splice(0),
	screenshot: ({path}) => page.screenshot({path}).then(() => null),
	close: () => browser && browser.close(),
};

function located(selector, text) {
	const some = page.locator(selector);

	return (text ? some.filter({hasText: text}) : some).first();
}

for await (const line of createInterface({input: process.stdin})) {
	const request = JSON.parse(line);
	let answer;

	try {
		answer = {value: (await doing[request.do](request)) ?? null};
	} catch (error) {
		answer = {error: String(error.message || error)};
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
	if (request.do === 'close') break;
}
