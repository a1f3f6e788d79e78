"""A page of Chromium that stays while the shop is killed and started again: survivor_browser.py ADDRESS SHOP_JS.

survivor.py describes the commands and the output.
"""
import base64, queue, sys, tempfile, threading

from chromium import Page

address = sys.argv[1]
module = base64.b64encode(open(sys.argv[2], "rb").read()).decode()

BEGIN = """(async () => {
    const { ShopClient, WaybillError } = await import('data:text/javascript;base64,%s');
    const shop = new ShopClient('%s', { timeout: 20000 });
    window.lines = [];
    window.call = async (repeats) => {
        try {
            let product = await shop.catalog.product({ id: 'copper-kettle' });
            while (repeats) product = await shop.catalog.product({ id: 'copper-kettle' });
            lines.push(`reply ${product.name}`);
        } catch (error) {
            lines.push(error instanceof WaybillError ? `error ${error.code}` : `untyped ${error}`);
        }
    };
    (async () => {
        for await (const message of shop.subscribe('app://reviews/:product')) {
            lines.push(`${message.isAfterGap ? 'gap' : 'message'} ${message.parameters.stars}`);
        }
        lines.push('the subscription has ended');
    })().catch((error) => lines.push(`the subscription has failed: ${error}`));
    return true;
})()"""

commands = queue.SimpleQueue()


def read():
    for line in sys.stdin:
        commands.put(line.strip())
    commands.put(None)


# Processes of the browser may still write to the folder while it is removed.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    page = Page(folder)
    try:
        page.open(address.replace("/bus", "/search?text=kettle").replace("127.0.0.1", "localhost"))
        page.run(BEGIN % (module, address.replace("127.0.0.1", "localhost")))
        threading.Thread(target=read, daemon=True).start()
        while True:
            for line in page.run("lines.splice(0)"):
                print(line, flush=True)
            try:
                if (command := commands.get(timeout=0.02)) is None:
                    break
            except queue.Empty:
                continue
            page.run(f"void call({'true' if command == 'calls' else 'false'})")
    finally:
        page.close()
