"""What somebody is told to do, or not to do."""

from typing import Final

WORDS: Final = {
    "TELL": """
        tell telling inform informing notify notifying mention mentioning reveal revealing disclose disclosing alert
        alerting explain explaining say saying warn warning confess acknowledge divulge told informed notified
        mentioned disclosed alerted warned sag sage sagen sagst mitteilen informiere informieren informierst erwähne
        erwähnen erwähnst verrate verraten offenbare offenbaren benachrichtige benachrichtigen erzähle erzählen dis
        dites dire informe informez informer mentionne mentionnez mentionner révèle révélez révéler préviens
        prévenez prévenir avertis avertissez signale signalez signaler parle parlez parler digas diga decir decirle
        informes informar menciones mencione mencionar reveles revele revelar avises avise avisar notifiques
        notifique notificar cuentes le_digas diga_ao informe_ao mencione_isso revele_ao informare menzionare
        rivelare 告诉 告知 提及 透露 通知 提到 泄露 披露 说明 告訴 提醒 сообща* говори* рассказыва* упомина*
        раскрыва* информируй* уведомля* извеща* предупрежда* 伝え 知らせ 教え 言わ 言及 알리지 말하지
    """,
    "SHOW": """
        show showing display displaying print printing expose exposing output log surface present zeige zeigen
        anzeigen montre montrez montrer affiche affichez muestres muestre mostrar 显示 展示 показыва*
    """,
    "SEND": """
        send sends sending sent posted forwarded uploaded transmitted delivered forward forwards forwarding post
        posts posting upload uploads uploading transmit transmits transmitting exfiltrate exfiltrates exfiltrating
        leak leaks deliver submit email_it email_the email_them email_all mail_it mail_the mail_them relay relays
        bcc cc put_it_to curl wget beacon redirect redirects push pushes copy_to sende senden sendet schicke
        schicken schickt übermittle übermitteln übertrage übertragen lade_hoch hochladen weiterleiten leite envoie
        envoies envoyez envoyer transmets transmettez transmettre téléverse téléversez transfère transférez envía
        envíe enviar envíalo envíala reenvía reenviar transmite transmitir sube subir súbelo envie invia inviare
        发送 上传 转发 传送 传输 发到 寄给 提交 發送 上傳 отправ* перешл* пересла* переда* загрузи* выгрузи* шли
        送信 送っ 転送 アップロード 보내 전송
    """,
    "CARRY": """
        include including includes append appends appending attach attaches attaching embed embeds embedding insert
        inserting add adds adding pass passes passing provide provides put supply fill copy copies paste dump
        smuggle encode encoding place write populate return return_it repeat echo füge einfügen hänge anhängen
        übergib übergebe übergeben gib kopiere kopieren schreibe einbetten inclus incluez inclure ajoute ajoutez
        ajouter joins joignez joindre passe passez passer insère insérez copie copiez incluye incluya incluir agrega
        agregue agregar añade añada añadir adjunta adjunte adjuntar pasa pase pasar inserta copia inclua includi
        allega 包含 附加 附上 填入 传入 放入 写入 添加 作为 嵌入 粘贴 复制 加入 放在 включи* добав* приложи* переда*
        встав* скопиру* запиши* вложи* 含め 添付 追加 渡し 入れ 貼り付け 포함 첨부
    """,
    "READ": """
        enumerate+ ingest+ slurp+ fish+ dig+ pull+ look+_up loaded read reads reading open opens access accesses cat
        load loads retrieve retrieves fetch fetches get collect collects gather gathers grab extract extracts
        harvest harvests steal steals dump dumps list scan look_up obtain view examine inspect check search find
        query lies lese lesen liest öffne öffnen sammle sammeln hole holen extrahiere lis lisez lire ouvre ouvrez
        ouvrir récupère récupérez récupérer collecte collectez extrais extrayez lee lea leer abre abra abrir
        recupera recopila recoge recoger obtén obtenga extrae extraiga leia ler leggi leggere 读取 打开 访问 获取
        收集 提取 查看 窃取 讀取 прочитай* прочти* прочит* читай* открой* получи* собер* извлек* считай* укради*
        読み 読んで 取得 開い 収集 읽어 읽고 수집
    """,
    "IGNORE": """
        ignore ignores ignoring disregard disregards disregarding forget forgets override overrides overriding
        overrule bypass bypasses bypassing circumvent supersede supersedes discard neglect cancel dismiss abandon
        violate ignoriere ignorieren missachte missachten vergiss vergesse übergehe umgehe ignorez ignorer oublie
        oubliez oublier contourne contournez outrepasse ignora ignorar olvida olvide olvidar omite omita anula
        esqueça dimentica 忽略 无视 忘记 忘掉 绕过 忽視 不理会 不要遵守 覆盖 取代 抛弃 игнориру* проигнорир* забудь*
        забыть отбрось* обойди* не_обращай_внимания отмени* 無視 忘れ 무시 잊어
    """,
    "FOLLOW": """
        follow follows following obey obeys obeying execute executes executing comply complies complying act_on
        treat treats carry_out adhere befolge befolgen gehorche exécute exécutez suis suivez obéis obéissez sigue
        siga obedece ejecuta ejecute 遵循 执行 服从 遵守 следуй* выполни* выполняй* подчин* 従っ 実行 따르
    """,
    "CHANGE": """
        change changes changed changing modify modifies modified modifying alter alters altered altering replace
        replaces replaced replacing set rewrite rewrites reroute reroutes redirect redirects redirected substitute
        substitutes override overrides overwrite overwritten swap adjust increase decrease multiply reduce add
        append bcc convert ändere ändern geändert ersetze ersetzen umleiten modifie modifiez modifier remplace
        remplacez remplacer changez modifica modifique modificar cambia cambie cambiar reemplaza reemplace sustituye
        修改 更改 替换 改为 设置为 改成 重定向 измени* замени* перенаправ* подмени* 変更 置き換え 변경
    """,
    "TAMPER": """
        modify modifies modifying alter alters altering replace replaces replacing rewrite rewrites rewriting
        reroute reroutes rerouting redirect redirects redirecting intercept intercepts intercepting substitute
        substitutes override overrides overriding supersede supersedes swap swaps tamper bcc must_be_changed
        should_be_changed must_be_replaced must_be_set should_be_set must_be_modified replaced modified redirected
        rerouted altered rewritten substituted overwritten swapped hijack shadow shadows change_the changes_the
        must_change should_change ändere geändert ersetze umleiten remplace remplacez modifie modifiez intercepte
        redirige redirigez modifica modifique reemplaza reemplace intercepta 修改 更改 替换 改为 改成 重定向 拦截
        измени* замени* перенаправ* подмени* перехват* 変更 置き換え 변경 amend amends rewire divert diverts
        diverted
    """,
    "CALL": """
        call calls called calling invoke invokes invoked invoking run runs running use uses used using execute
        executes executed executing trigger triggered triggers launch consult query employ perform performing
        aufrufen rufe ruf aufgerufen verwende verwenden benutze benutzen ausführen appelle appelez appeler appelé
        utilise utilisez utiliser exécute exécutez llama llame llamar llamado usa usar utiliza utilice utilizar
        invoca invoque ejecuta chame chiama 调用 使用 执行 运行 呼叫 調用 вызови* вызыва* вызвать использу* запусти*
        выполни* примен* 呼び出し 使っ 実行 호출 사용
    """,
    "KNOW": """
        know knows knowing knowledge see sees seeing notice notices noticing aware awareness consent visible shown
        find_out suspect realize learn wissen merken erfahren savoir voir remarquer saber sepa ver notar 知道 看到
        发现 察觉 узнать узнал* знать видеть заметил* 気づ 知ら
    """,
    "HIDE": """
        hide hides hiding conceal conceals concealing keep_this_from keep_it_from keep_secret keep_this_secret
        keep_it_secret keep_hidden keep_this_hidden keep_this_confidential keep_this_private keep_quiet withhold
        withholding verstecke verberge verheimliche verschweige cachez dissimule dissimulez oculta oculte ocultar
        隐藏 保密 隐瞒 秘密 скрой* скры* тайн* секрет* 隠し 숨기
    """,
    "ASK": """
        ask asked asking asks questioned wants_to_know want_to_know inquires enquires challenged confronted confirm
        confirming confirmation approval approve permission consent prompt prompting check_with verify_with
        authorization asks_again frage fragen nachfrage bestätigung genehmigung erlaubnis zustimmung demande
        demander demandez autorisation pregunta preguntar preguntes confirmación permiso autorización 询问 确认 许可
        批准 同意 спрашива* спроси* подтвержден* разрешени* согласи* 確認 許可 確認せず 확인
    """,
    "LIE": """
        claim pretend deny lie act_as_if insist feign behaupte leugne prétends nie_que finge niega 声称 假装 否认
        утверждай притворись отрицай
    """,
    "DO": """
        do_this do_so do_it do_that perform_this carry_this_out tu_dies fais_le hazlo 这样做 这么做 делай_это
        сделай_это
    """,
    "DECODE": """
        decode decodes decoding base64 rot13 deobfuscate unescape dekodiere décode décodez decodifica 解码 декодиру*
        復号
    """,
    "DESTROY": """
        delete deletes erase erases wipe wipes destroy remove_all drop truncate rm lösche supprime supprimez borra
        elimina 删除 清空 удали* 削除 삭제
    """,
    "MAKE": "create open make write add register enrol grant",
}
